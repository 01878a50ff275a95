#include "words.h"

const cof_word cofi_variant_words[] = {
    [COF_VARIANT_PAPER] = {"paper", "the equations as printed"},
    [COF_VARIANT_AUTHORS] = {"authors", "the scaling of the authors' released program"},
    {NULL, NULL}};

const cof_word cofi_select_words[] = {
    [COF_SELECT_AUTO] =
        {"auto", "for the portfolio mixture if quantities were cut, else balance; for other starts objective "
                 "with lca, kmodes and k-prototypes, else likelihood (default)"},
    [COF_SELECT_BALANCE] = {"balance", "both likelihood and tightness, compared with a single cluster"},
    [COF_SELECT_LIKELIHOOD] = {"likelihood", "the largest integrated likelihood"},
    [COF_SELECT_OBJECTIVE] = {"objective", "the smallest total distance; with lca what EM makes largest"},
    [COF_SELECT_MIXTURE] = {"mixture", "the likeliest rows if the clusters are the classes of a mixture"},
    {NULL, NULL}};

const cof_word cofi_missing_words[] = {
    [COF_MISSING_VALUE] = {"value", "as a value of its own (default)"},
    [COF_MISSING_IGNORE] = {"ignore", "the cell adds nothing to any distance"},
    [COF_MISSING_DROP] = {"drop", "the row is left out and gets no cluster"},
    [COF_MISSING_ERROR] = {"error", "the table is refused"},
    {NULL, NULL}};

const cof_word cofi_scale_words[] = {
    [COF_SCALE_AUTO] = {"auto", "z for k-prototypes, else range (default)"},
    [COF_SCALE_RANGE] = {"range", "from 0 to 1 over the table"},
    [COF_SCALE_Z] = {"z", "from the mean, in standard deviations"},
    [COF_SCALE_NONE] = {"none", "as they are, so that their units decide how much they count"},
    {NULL, NULL}};

cof_word cofi_words_at(const cof_word *words, size_t place)
{
    size_t at = 0;
    while (at < place && words[at].name != NULL) at++;
    return words[at];
}
