/* WebAssembly has none of it, and the cmocka.h beside this file needs none. */
