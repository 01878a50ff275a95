/* What Windows lacks of POSIX, or does otherwise. The headers in this folder come before those of Windows and read this one, so
 * that no other file asks for the system. Names of files are UTF-8; files are binary, and can be renamed and deleted while
 * they are open. */
#pragma once

#include <direct.h>
#include <dirent.h>
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define O_CLOEXEC           (_O_NOINHERIT | _O_BINARY)
#define O_DIRECTORY         0x1000000
#define O_NOFOLLOW          0
#define O_NONBLOCK          0
#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 0
#define S_ISLNK(mode)       0

int cofi_win_open(const char *path, int flags, ...);
int cofi_win_openat(int folder, const char *path, int flags, ...);
int cofi_win_stat(const char *path,
                  struct stat *about); /* st_dev and st_ino together tell one file from another */
int cofi_win_fstat(int fd, struct stat *about);
int cofi_win_fstatat(int folder, const char *path, struct stat *about, int flags);
int cofi_win_isatty(int fd);
int cofi_win_access(const char *path, int mode);
int cofi_win_mkdir(const char *path);
int cofi_win_renameat(int from_folder, const char *from, int to_folder, const char *to);
int cofi_win_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int cofi_win_unlinkat(int folder, const char *path, int flags);
DIR *cofi_win_fdopendir(int fd);
char *cofi_win_realpath(const char *path, char *real);
ssize_t cofi_win_pread(int fd, void *to, size_t n, off_t at);
ssize_t cofi_win_pwrite(int fd, const void *from, size_t n, off_t at);
int cofi_win_fsync(int fd);
int cofi_win_getentropy(void *to, size_t n);

#define open   cofi_win_open
#define openat cofi_win_openat
#ifdef stat /* another name of the struct whose sizes have 64 bits */
#define _stat64(path, about) cofi_win_stat(path, about)
#define _fstat64(fd, about)  cofi_win_fstat(fd, about)
#else
#define stat(path, about) cofi_win_stat(path, about)
#define fstat(fd, about)  cofi_win_fstat(fd, about)
#endif
#define lstat(path, about) cofi_win_stat(path, about)
#define fstatat            cofi_win_fstatat
#define isatty             cofi_win_isatty
#define access             cofi_win_access
#define mkdir(path, mode)  cofi_win_mkdir(path)
#define renameat           cofi_win_renameat
#define linkat             cofi_win_linkat
#define unlinkat           cofi_win_unlinkat
#define fdopendir          cofi_win_fdopendir
#define realpath           cofi_win_realpath
#define pread              cofi_win_pread
#define pwrite             cofi_win_pwrite
#define fsync              cofi_win_fsync
#define getentropy         cofi_win_getentropy
/* A name of the C library there, which the sources use for functions of their own. */
#define tell cofi_win_tell
