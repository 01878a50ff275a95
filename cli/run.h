/* The program apart from main: coforest and coforest-mpi run the same. */
#pragma once

int run_program(int argc, char **argv); /* the exit code */
