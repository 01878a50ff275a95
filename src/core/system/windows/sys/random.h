/* Windows has no such header. */
#pragma once
#include "../posix.h"
