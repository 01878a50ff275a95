/* How far clusters are found again, on partitions small enough to count by hand. */
#include "unit_helper.h"

#include "../../src/score/overlap.h"

static void renamed_clusters_are_found_whole(void **state)
{
    const int32_t own[] = {0, 0, 1, 1, 2}, other[] = {2, 2, 0, 0, 1};
    uint32_t work[3 * 5];
    double sum[3] = {0, 0, 0};
    (void)state;
    cofi_overlap_add(own, other, 5, 3, work, sum);
    cofi_overlap_add(own, own, 5, 3, work, sum);
    for (int j = 0; j < 3; j++) assert_near(sum[j], 2, 0);
}

/* Cluster 0 (rows 0 to 3) shares three rows with the other's cluster 1 (rows 1 to 4): 3 of 5. Cluster 1 (row 4 and
 * the empty rest) shares one row with it: 1 of 4. Cluster 2 is empty. Row 5 is left out. */
static void parts_are_counted_over_the_union(void **state)
{
    const int32_t own[] = {0, 0, 0, 0, 1, -1}, other[] = {0, 1, 1, 1, 1, 0};
    uint32_t work[3 * 5];
    double sum[3] = {0, 0, 0};
    (void)state;
    cofi_overlap_add(own, other, 6, 3, work, sum);
    assert_near(sum[0], 3.0 / 5, 1e-15);
    assert_near(sum[1], 1.0 / 4, 1e-15);
    assert_near(sum[2], 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renamed_clusters_are_found_whole),
        cmocka_unit_test(parts_are_counted_over_the_union),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
