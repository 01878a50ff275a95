/* The verbs, each in its own cmd_<verb>.c. */
#pragma once

#include "../options.h"

extern const verb verb_fit, verb_predict, verb_evaluate, verb_compare, verb_trees, verb_report, verb_describe,
    verb_generate, verb_encode, verb_completion;

int complete_words(int argc, char **argv); /* what a shell may offer; the exit code */
