/* Windows, and what it lacks of POSIX (windows/posix.h). */
#include "system.h"

#include "nameless.h"

#undef fclose

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <windows.h>

/* ---- Names --------------------------------------------------------------------------------------- */

static int fail(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
        errno = ENOENT;
        break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
        errno = EEXIST;
        break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        errno = EACCES;
        break;
    case ERROR_DISK_FULL:
        errno = ENOSPC;
        break;
    case ERROR_NOT_ENOUGH_MEMORY:
        errno = ENOMEM;
        break;
    default:
        errno = EIO;
    }
    return -1;
}

/* Null: out of memory, or no UTF-8. */
static wchar_t *widen(const char *text)
{
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
    if (wide == NULL || MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, n) > 0)
        return errno = wide == NULL && n > 0 ? ENOMEM : ENOENT, wide;
    free(wide);
    return NULL;
}

/* The name of a file in an open folder. */
static wchar_t *name_in(int folder, const char *path)
{
    wchar_t *leaf = widen(path);
    if (folder == AT_FDCWD || leaf == NULL) return leaf;
    HANDLE handle = (HANDLE)_get_osfhandle(folder);
    DWORD n = GetFinalPathNameByHandleW(handle, NULL, 0, 0);
    wchar_t *whole = malloc((n + wcslen(leaf) + 2) * sizeof *whole);
    if (whole != NULL && (n == 0 || GetFinalPathNameByHandleW(handle, whole, n + 1, 0) == 0)) {
        free(whole);
        whole = NULL;
        errno = EBADF;
    }
    if (whole != NULL && wcscmp(leaf, L".") != 0) wcscat(wcscat(whole, L"\\"), leaf);
    free(leaf);
    return whole;
}

/* ---- Files --------------------------------------------------------------------------------------- */

static HANDLE create(const wchar_t *name, int flags)
{
    DWORD wanted = flags & _O_RDWR     ? GENERIC_READ | GENERIC_WRITE
                   : flags & _O_WRONLY ? GENERIC_WRITE
                                       : GENERIC_READ;
    DWORD how = flags & _O_CREAT   ? (flags & _O_EXCL    ? CREATE_NEW
                                      : flags & _O_TRUNC ? CREATE_ALWAYS
                                                         : OPEN_ALWAYS)
                : flags & _O_TRUNC ? TRUNCATE_EXISTING
                                   : OPEN_EXISTING;
    /* This flag opens folders too, as other systems do for reading. */
    return CreateFileW(name, wanted, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, how,
                       wanted == GENERIC_READ ? FILE_FLAG_BACKUP_SEMANTICS : FILE_ATTRIBUTE_NORMAL, NULL);
}

static bool is_folder(const wchar_t *name)
{
    DWORD attributes = GetFileAttributesW(name);
    return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
}

int cofi_win_openat(int folder, const char *path, int flags, ...)
{
    wchar_t *name = name_in(folder, path);
    if (name == NULL) return -1;
    HANDLE handle = create(name, flags);
    DWORD error = GetLastError();
    bool folder_there = handle == INVALID_HANDLE_VALUE && is_folder(name);
    free(name);
    if (folder_there) return errno = EISDIR, -1;
    if (handle == INVALID_HANDLE_VALUE) return fail(error);
    int fd = _open_osfhandle((intptr_t)handle,
                             (flags & (_O_APPEND | _O_RDWR | _O_WRONLY)) | _O_BINARY | _O_NOINHERIT);
    if (fd < 0) CloseHandle(handle);
    return fd;
}

int cofi_win_open(const char *path, int flags, ...)
{
    return cofi_win_openat(AT_FDCWD, path, flags);
}

FILE *cofi_win_fopen(const char *path, const char *mode)
{
    bool more = strchr(mode, '+') != NULL;
    int flags = mode[0] == 'r'   ? (more ? _O_RDWR : _O_RDONLY)
                : mode[0] == 'w' ? _O_CREAT | _O_TRUNC | (more ? _O_RDWR : _O_WRONLY)
                                 : _O_CREAT | _O_APPEND | (more ? _O_RDWR : _O_WRONLY);
    const char plain[] = {mode[0], 'b', more ? '+' : '\0', '\0'};
    int fd = cofi_win_open(path, flags);
    FILE *file = fd >= 0 ? _fdopen(fd, plain) : NULL;
    if (fd >= 0 && file == NULL) _close(fd);
    return file;
}

/* The C library has 0 for st_ino. Here st_dev and st_ino hold 48 bits that are mixed from volume and file. */
static int describe(HANDLE handle, struct stat *about)
{
    BY_HANDLE_FILE_INFORMATION info;
    memset(about, 0, sizeof *about);
    about->st_nlink = 1;
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        about->st_mode = GetFileType(handle) == FILE_TYPE_CHAR ? _S_IFCHR : _S_IFIFO;
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &info)) { /* wine, for standard input that its caller opened */
        LARGE_INTEGER size;
        if (!GetFileSizeEx(handle, &size)) return fail(GetLastError());
        about->st_mode = _S_IFREG | 0666;
        about->st_size = (off_t)size.QuadPart;
        return 0;
    }
    uint64_t mixed =
        ((uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow) * UINT64_C(0x9E3779B97F4A7C15) +
        info.dwVolumeSerialNumber;
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    about->st_dev = (_dev_t)(mixed >> 32);
    about->st_ino = (_ino_t)(mixed >> 16);
    about->st_mode = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? _S_IFDIR | 0777 : _S_IFREG | 0666;
    about->st_size = (off_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow);
    uint64_t ticks = (uint64_t)info.ftLastWriteTime.dwHighDateTime << 32 | info.ftLastWriteTime.dwLowDateTime;
    about->st_mtime = (time_t)(ticks / 10000000 - UINT64_C(11644473600)); /* since 1601 */
    return 0;
}

int cofi_win_fstatat(int folder, const char *path, struct stat *about, int flags)
{
    wchar_t *name = name_in(folder, path);
    if (name == NULL) return -1;
    HANDLE handle = CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(name);
    if (handle == INVALID_HANDLE_VALUE) return fail(GetLastError());
    int result = describe(handle, about);
    CloseHandle(handle);
    return result;
}

int cofi_win_stat(const char *path, struct stat *about)
{
    return cofi_win_fstatat(AT_FDCWD, path, about, 0);
}

int cofi_win_fstat(int fd, struct stat *about)
{
    HANDLE handle = (HANDLE)_get_osfhandle(fd);
    return handle == INVALID_HANDLE_VALUE ? (errno = EBADF, -1) : describe(handle, about);
}

/* The C library takes every device for a terminal, NUL too. */
int cofi_win_isatty(int fd)
{
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(fd), &mode) != 0;
}

int cofi_win_access(const char *path, int mode)
{
    wchar_t *name = widen(path);
    int result =
        name != NULL ? _waccess(name, mode & 6) : -1; /* the C library there ends the program for X_OK */
    free(name);
    return result;
}

int cofi_win_mkdir(const char *path)
{
    wchar_t *name = widen(path);
    int result = name != NULL ? _wmkdir(name) : -1;
    free(name);
    return result;
}

int cofi_win_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    wchar_t *old = name_in(from_folder, from), *name = name_in(to_folder, to);
    bool named = old != NULL && name != NULL,
         done = named && MoveFileExW(old, name, MOVEFILE_REPLACE_EXISTING);
    DWORD error = GetLastError();
    bool folder_there = named && !done && is_folder(name);
    free(old);
    free(name);
    if (folder_there) return errno = EISDIR, -1;
    return done ? 0 : named ? fail(error) : -1;
}

int cofi_win_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    wchar_t *old = name_in(from_folder, from), *name = name_in(to_folder, to);
    bool named = old != NULL && name != NULL, done = named && CreateHardLinkW(name, old, NULL);
    DWORD error = GetLastError();
    free(old);
    free(name);
    return done ? 0 : named ? fail(error) : -1;
}

int cofi_win_unlinkat(int folder, const char *path, int flags)
{
    wchar_t *name = name_in(folder, path);
    if (name == NULL) return -1;
    bool done = DeleteFileW(name);
    DWORD error = GetLastError();
    free(name);
    return done ? 0 : fail(error);
}

/* Only needed to remove what killed programs left, which needs locks too; such files stay. */
DIR *cofi_win_fdopendir(int fd)
{
    errno = ENOTSUP;
    return NULL;
}

/* With slashes, for those who look for the last one. */
char *cofi_win_realpath(const char *path, char *real)
{
    struct stat about;
    wchar_t *name = cofi_win_stat(path, &about) == 0 ? widen(path) : NULL;
    wchar_t *whole = name != NULL ? _wfullpath(NULL, name, 0) : NULL;
    int n = whole != NULL ? WideCharToMultiByte(CP_UTF8, 0, whole, -1, NULL, 0, NULL, NULL) : 0;
    if (real == NULL && n > 0) real = malloc((size_t)n);
    bool done = real != NULL && n > 0 && WideCharToMultiByte(CP_UTF8, 0, whole, -1, real, n, NULL, NULL) > 0;
    for (char *c = done ? real : NULL; c != NULL && *c != '\0'; c++)
        if (*c == '\\') *c = '/';
    free(name);
    free(whole);
    return done ? real : NULL;
}

enum { MOST_AT_ONCE = 1 << 30 };

typedef BOOL WINAPI mover(HANDLE file, void *bytes, DWORD n, DWORD *moved, OVERLAPPED *place);

/* Windows moves the place in the file all the same; who reads on from there must not lose bytes. */
static ssize_t move_at(int fd, mover *move, void *bytes, size_t n, off_t at)
{
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)((uint64_t)at >> 32)};
    LARGE_INTEGER before, none = {.QuadPart = 0};
    DWORD moved = 0;
    bool known = SetFilePointerEx(file, none, &before, FILE_CURRENT);
    bool done = move(file, bytes, (DWORD)(n < MOST_AT_ONCE ? n : MOST_AT_ONCE), &moved, &place);
    DWORD error = GetLastError();
    if (known) SetFilePointerEx(file, before, NULL, FILE_BEGIN);
    if (!done && error != ERROR_HANDLE_EOF) return fail(error);
    return (ssize_t)moved;
}

static BOOL WINAPI write_bytes(HANDLE file, void *bytes, DWORD n, DWORD *moved, OVERLAPPED *place)
{
    return WriteFile(file, bytes, n, moved, place);
}

ssize_t cofi_win_pread(int fd, void *to, size_t n, off_t at)
{
    return move_at(fd, ReadFile, to, n, at);
}

ssize_t cofi_win_pwrite(int fd, const void *from, size_t n, off_t at)
{
    return move_at(fd, write_bytes, (void *)(uintptr_t)from, n, at);
}

int cofi_win_fsync(int fd)
{
    struct stat about;
    if (cofi_win_fstat(fd, &about) != 0) return -1;
    if (!S_ISREG(about.st_mode) || FlushFileBuffers((HANDLE)_get_osfhandle(fd))) return 0;
    errno = EINVAL; /* not open for writing: nothing to do */
    return -1;
}

/* ---- Text and chance ----------------------------------------------------------------------------- */

BOOLEAN NTAPI SystemFunction036(void *to, ULONG n); /* RtlGenRandom */

int cofi_win_getentropy(void *to, size_t n)
{
    return SystemFunction036(to, (ULONG)n) ? 0 : (errno = EIO, -1);
}

char *cofi_win_strcasestr(const char *text, const char *part)
{
    for (size_t n = strlen(part); *text != '\0'; text++)
        if (_strnicmp(text, part, n) == 0) return (char *)(uintptr_t)text;
    return *part == '\0' ? (char *)(uintptr_t)text : NULL;
}

char *cofi_win_strndup(const char *text, size_t n)
{
    size_t length = strnlen(text, n);
    char *copy = malloc(length + 1);
    if (copy != NULL) ((char *)memcpy(copy, text, length))[length] = '\0';
    return copy;
}

char *cofi_win_strsep(char **rest, const char *separators)
{
    char *begin = *rest;
    if (begin == NULL) return NULL;
    char *end = begin + strcspn(begin, separators);
    *rest = *end != '\0' ? end + 1 : NULL;
    *end = '\0';
    return begin;
}

ssize_t cofi_win_getdelim(char **text, size_t *room, int end, FILE *in)
{
    size_t n = 0;
    for (int c = getc(in); c != EOF; c = c == end ? EOF : getc(in)) {
        if (n + 2 > *room) {
            size_t more = *room < 4096 ? 4096 : 2 * *room;
            char *larger = realloc(*text, more);
            if (larger == NULL) return -1;
            *text = larger;
            *room = more;
        }
        (*text)[n++] = (char)c;
        (*text)[n] = '\0';
    }
    return n > 0 ? (ssize_t)n : -1;
}

/* A stream of memory is a temporary file that is read when it is closed. */
static struct {
    FILE *file;
    char **text;
    size_t *n;
} in_memory;

FILE *cofi_win_open_memstream(char **text, size_t *n)
{
    in_memory.text = text;
    in_memory.n = n;
    return in_memory.file = tmpfile();
}

static int read_back(void)
{
    long n = fflush(in_memory.file) == 0 ? ftell(in_memory.file) : -1;
    char *text = n >= 0 ? malloc((size_t)n + 1) : NULL;
    rewind(in_memory.file);
    if (text == NULL || fread(text, 1, (size_t)n, in_memory.file) != (size_t)n) {
        free(text);
        return -1;
    }
    text[n] = '\0';
    *in_memory.text = text;
    *in_memory.n = (size_t)n;
    return 0;
}

int cofi_win_fclose(FILE *file)
{
    bool mine = file == in_memory.file;
    int code = mine ? read_back() : 0;
    if (mine) in_memory.file = NULL;
    return fclose(file) == 0 ? code : EOF;
}

/* ---- system.h ------------------------------------------------------------------------------------ */

long cofi_usable_cores(void)
{
    return (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

void cofi_start_elsewhere(pthread_t thread) {} /* a new thread begins on a core that is idle */

uint64_t cofi_machine_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : UINT64_MAX;
}

double cofi_processor_s(void)
{
    FILETIME begun, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user)) return 0;
    uint64_t ticks = ((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
                     ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime);
    return 1e-7 * (double)ticks;
}

int cofi_open_nameless(char *path)
{
    int fd = cofi_name_by_chance(path) ? cofi_win_open(path, _O_RDWR | _O_CREAT | _O_EXCL) : -1;
    if (fd < 0 || cofi_win_unlinkat(AT_FDCWD, path, 0) == 0) return fd;
    _close(fd);
    return -1;
}

int cofi_open_unlisted(const char *path)
{
    errno = EACCES;
    return -1;
}

void cofi_take_over(int fd, const struct stat *old) {}

void *cofi_map(int fd, size_t n_bytes)
{
    HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(fd), NULL, PAGE_WRITECOPY, 0, 0, NULL);
    void *file = mapping != NULL ? MapViewOfFile(mapping, FILE_MAP_COPY, 0, 0, n_bytes) : NULL;
    if (file == NULL) fail(GetLastError());
    if (mapping != NULL) CloseHandle(mapping); /* the view keeps it */
    return file;
}

void cofi_unmap(void *file, size_t n_bytes)
{
    UnmapViewOfFile(file);
}

void cofi_advise(const void *from, size_t n_bytes, cofi_advice advice) {}

bool cofi_is_own(const struct stat *about)
{
    return true;
}

const char cofi_staged_prefix[] = ".coforest_";

const bool cofi_has_locks = false;

int cofi_lock(int fd, bool shared)
{
    return ENOTSUP;
}
