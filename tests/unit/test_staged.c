/* Waiting files under system calls that fail or are interrupted: old content or new content, and nothing else. */
#include "calls_helper.h"
#include "unit_helper.h"

#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/types.h>
#include <sys/wait.h>

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_text(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static int n_files(void)
{
    int n = 0;
    DIR *dir = opendir(".");
    assert_non_null(dir);
    while (readdir(dir) != NULL) n++;
    closedir(dir);
    return n - 2;
}

/* Replaces a and makes b, together. */
static cof_status publish(cof_error *err)
{
    cof_output *outputs[2] = {NULL, NULL};
    cof_status status = cof_output_open(NULL, "a", &outputs[0], err);
    if (status == COF_OK) status = cof_output_open(NULL, "b", &outputs[1], err);
    if (status == COF_OK) {
        cof_output_write(outputs[0], "new", 3, err);
        cof_output_write(outputs[1], "new", 3, err);
        return cof_output_publish(outputs, 2, err);
    }
    cof_output_discard(outputs[0]);
    cof_output_discard(outputs[1]);
    return status;
}

static void publish_with(const char *call, int after, int times, int error, cof_status expected)
{
    cof_error err = {""};
    put_text("a", "old");
    fail_calls(call, after, times, error);
    cof_status status = publish(&err);
    assert_int_equal(calls_left(), 0);
    assert_status(status, expected, &err);
    assert_text("a", status == COF_OK ? "new" : "old");
    assert_int_equal(access("b", F_OK) == 0, status == COF_OK);
    assert_int_equal(n_files(), status == COF_OK ? 2 : 1);
    if (status != COF_OK) assert_non_null(strstr(err.text, strerror(error)));
    unlink("a");
    unlink("b");
}

/* An interrupted fsync or close used to lose the result. */
static void interrupted_calls_are_repeated(void **state)
{
    (void)state;
    static const char *const calls[] = {"openat", "write", "fsync"};
    for (size_t c = 0; c < COUNT(calls); c++)
        for (int after = 0; after < 2; after++) publish_with(calls[c], after, 3, EINTR, COF_OK);
    publish_with("close", 0, 3, EINTR, COF_OK); /* not repeated: the descriptor is closed */
}

/* Two files and two folders are synced; what fails takes everything back. */
static void what_cannot_be_synced_is_taken_back(void **state)
{
    (void)state;
    for (int after = 0; after < 4; after++) publish_with("fsync", after, 1, EIO, COF_ERR_IO);
    publish_with("renameat", 0, 1, EIO, COF_ERR_IO);
    publish_with("renameat", 1, 1, ENOSPC, COF_ERR_IO);
    publish_with("write", 0, 1, ENOSPC, COF_ERR_IO);
    publish_with("write", 1, 1, EIO, COF_ERR_IO);
}

static void file_systems_without_sync_links_or_permissions(void **state)
{
    (void)state;
    publish_with("fsync", 0, 4, EINVAL, COF_OK);
    publish_with("fsync", 0, 4, ENOTSUP, COF_OK);
    publish_with("fsync", 0, 4, EBADF, COF_OK);
    publish_with("linkat", 0, 1, EPERM, COF_OK);
    publish_with("fchmod", 0, 1, EPERM, COF_OK);
}

/* Without hard links there is no way back: the file that was renamed stays new. */
static void without_links_a_renamed_file_stays(void **state)
{
    (void)state;
    cof_error err;
    put_text("a", "old");
    cof_output *outputs[2];
    assert_int_equal(cof_output_open(NULL, "a", &outputs[0], &err), COF_OK);
    assert_int_equal(cof_output_open(NULL, "taken", &outputs[1], &err), COF_OK);
    cof_output_write(outputs[0], "new", 3, &err);
    assert_int_equal(mkdir("taken", 0777), 0);
    fail_calls("linkat", 0, 1, EPERM);
    assert_int_equal(cof_output_publish(outputs, 2, &err), COF_ERR_IO);
    assert_int_equal(calls_left(), 0);
    assert_text("a", "new");
    rmdir("taken");
    unlink("a");
}

static void without_random_numbers_there_is_no_file(void **state)
{
    (void)state;
    publish_with("getentropy", 0, 1, ENOSYS, COF_ERR_IO); /* names of the waiting files */
    publish_with("getentropy", 1, 1, ENOSYS, COF_ERR_IO);
    publish_with("getentropy", 2, 1, ENOSYS, COF_ERR_IO); /* the second name of the replaced file */
    publish_with("openat", 2, 1, EMFILE, COF_ERR_IO);     /* the folder, its list, the file */
    publish_with("openat", 2, 100, EEXIST, COF_ERR_IO);   /* all names are taken */
}

/* Another run may take a file for left over before it is locked: the next name is tried. */
static void a_file_that_another_run_holds_is_left(void **state)
{
    (void)state;
    publish_with("flock", 0, 1, EWOULDBLOCK, COF_OK);
    publish_with("flock", 3, 3, EWOULDBLOCK, COF_OK); /* the folder: it waits */
    publish_with("flock", 0, 5, ENOLCK, COF_OK);      /* a file system without locks */
}

static void the_folder_cannot_be_listed(void **state)
{
    (void)state;
    publish_with("openat", 0, 1, EACCES, COF_OK); /* opened by its path only; it cannot be synced */
    publish_with("openat", 1, 1, EACCES, COF_OK); /* nothing is searched for left files */
    publish_with("openat", 0, 1, ENOENT, COF_ERR_IO);
}

static void a_device_that_cannot_be_closed(void **state)
{
    (void)state;
    cof_output *output;
    cof_error err;
    assert_int_equal(cof_output_open(NULL, "/dev/null", &output, &err), COF_OK);
    assert_int_equal(cof_output_write(output, "x", 1, &err), COF_OK);
    fail_calls("close", 0, 1, EIO);
    assert_int_equal(cof_output_commit(output, &err), COF_ERR_IO);
    assert_int_equal(calls_left(), 0);
    assert_string_equal(err.text, "cannot write /dev/null: Input/output error");
    assert_int_equal(cof_output_open(NULL, "/dev/null", &output, &err), COF_OK);
    fail_calls("close", 0, 1, EINTR);
    assert_int_equal(cof_output_commit(output, &err), COF_OK);
    assert_int_equal(calls_left(), 0);
}

/* A user who may not give a file its old group gives that group no more than all others have. */
static void the_group_gets_no_more_than_others(void **state)
{
    (void)state;
    enum { SOMEBODY = 65534 };
    struct stat about;
    if (geteuid() != 0) skip();
    put_text("a", "old");
    assert_int_equal(chmod("a", 0664), 0);
    assert_int_equal(chmod(".", 0777), 0);
    assert_int_equal(chown("a", SOMEBODY, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        cof_output *output;
        if (setgid(SOMEBODY) != 0 || setuid(SOMEBODY) != 0) _exit(2);
        if (cof_output_open(NULL, "a", &output, NULL) != COF_OK) _exit(3);
        exit(cof_output_commit(output, NULL) != COF_OK);
    }
    int code = -1;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    assert_int_equal(stat("a", &about), 0);
    assert_int_equal(about.st_gid, SOMEBODY);
    assert_int_equal(about.st_mode & 0777, 0644);
    unlink("a");
}

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/coforest-staged-XXXXXX";
    *state = folder;
    return mkdtemp(folder) != NULL ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    return chdir("/") == 0 ? rmdir(*state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_calls_are_repeated),
        cmocka_unit_test(what_cannot_be_synced_is_taken_back),
        cmocka_unit_test(file_systems_without_sync_links_or_permissions),
        cmocka_unit_test(without_links_a_renamed_file_stays),
        cmocka_unit_test(without_random_numbers_there_is_no_file),
        cmocka_unit_test(a_file_that_another_run_holds_is_left),
        cmocka_unit_test(the_folder_cannot_be_listed),
        cmocka_unit_test(a_device_that_cannot_be_closed),
        cmocka_unit_test(the_group_gets_no_more_than_others),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
