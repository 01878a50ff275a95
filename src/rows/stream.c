#include "stream.h"

#include "../core/system/system.h"

cofi_ids cofi_stream_ids(const cof_table *t, const cofi_column *c)
{
    /* Codes that were renumbered are not in the file; the difference then wraps round or is too large. */
    bool mapped = (uintptr_t)c->codes - (uintptr_t)t->file < t->n_mapped;
    return (cofi_ids){c->codes, c->width, t->streamed && mapped};
}

bool cofi_is_streamed(const cofi_cells *c)
{
    for (size_t r = 0; r < c->n_attrs; r++)
        if (c->ids[r].streamed) return true;
    return false;
}

static void advise(const cofi_cells *c, size_t begin, size_t end, cofi_advice advice)
{
    end = end < c->n_rows ? end : c->n_rows;
    for (size_t r = 0; r < c->n_attrs && begin < end; r++) {
        if (!c->ids[r].streamed) continue;
        const char *from = (const char *)c->ids[r].codes + begin * c->ids[r].width;
        cofi_advise(from, (end - begin) * c->ids[r].width, advice);
    }
}

void cofi_stream_begin(const cofi_cells *c)
{
    advise(c, 0, c->n_rows, COFI_READ_RANDOM);
}

void cofi_stream_end(const cofi_cells *c)
{
    advise(c, 0, c->n_rows, COFI_READ_USUAL);
}

void cofi_stream_want(const cofi_cells *c, size_t begin, size_t end)
{
    advise(c, begin, end, COFI_READ_SOON);
}

/* Workers take up to 16 blocks at a time (team.c), so block 0 asks for the first ones of all. */
bool cofi_stream_ahead(size_t block, uint32_t n_workers, size_t *from, size_t *end)
{
    size_t ahead = block + (size_t)COFI_STREAM_BLOCKS * n_workers;
    *from = block == 0 ? 0 : ahead;
    *end = ahead + COFI_STREAM_BLOCKS;
    return block % COFI_STREAM_BLOCKS == 0;
}
