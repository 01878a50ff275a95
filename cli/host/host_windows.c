/* Windows. */
#include "host.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

static void (*asked_to_stop)(int); /* a console handler has nowhere else to look */

static void begin_terminal(DWORD which)
{
    HANDLE out = GetStdHandle(which);
    DWORD mode;
    if (!GetConsoleMode(out, &mode)) return;
    SetConsoleOutputCP(CP_UTF8);
    /* Programs of other systems know by TERM that a terminal understands colours. */
    if (SetConsoleMode(out, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) && getenv("TERM") == NULL)
        _putenv("TERM=xterm");
}

void survive_failed_writes(void)
{
    _setmode(0, _O_BINARY); /* a text stream would end at Ctrl-Z and have other line ends */
    _setmode(1, _O_BINARY);
    _setmode(2, _O_BINARY);
    begin_terminal(STD_OUTPUT_HANDLE);
    begin_terminal(STD_ERROR_HANDLE);
}

void use_one_heap(void) {} /* threads have one */

/* A backslash separates folders where what stands before the last one is a folder; else it is part of a name or value, as
 * in --delimiter '\t'. */
static void use_slashes(char *argument)
{
    char *path = strncmp(argument, "--", 2) == 0 && strchr(argument, '=') != NULL ? strchr(argument, '=') + 1
                                                                                  : argument;
    char *last = strrchr(path, '\\');
    struct stat about;
    if (last == NULL || last == path) return;
    *last = '\0';
    bool is_folder = stat(path[strlen(path) - 1] != ':' ? path : "/", &about) == 0 && S_ISDIR(about.st_mode);
    *last = '\\';
    for (; is_folder && *path != '\0'; path++)
        if (*path == '\\') *path = '/';
}

char **host_arguments(int *argc, char **argv)
{
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), argc);
    char **own = wide != NULL ? calloc((size_t)*argc + 1, sizeof *own) : NULL;
    for (int i = 0; own != NULL && i < *argc; i++) {
        int n = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        own[i] = malloc((size_t)n + 1);
        if (own[i] == NULL) exit(1);
        WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, own[i], n, NULL, NULL);
        use_slashes(own[i]);
    }
    LocalFree(wide);
    return own != NULL ? own : argv;
}

bool reader_gone(void)
{
    unsigned long error = _doserrno; /* of the last call that failed */
    bool pipe_closed =
        error == ERROR_NO_DATA || error == ERROR_BROKEN_PIPE || error == ERROR_PIPE_NOT_CONNECTED;
    return pipe_closed && GetFileType(GetStdHandle(STD_OUTPUT_HANDLE)) == FILE_TYPE_PIPE;
}

void end_like_others(void)
{
    _exit(EXIT_FAILURE);
}

/* Runs in a thread of its own. The second time Windows ends the program. */
static BOOL WINAPI on_event(DWORD event)
{
    void (*stop)(int) = asked_to_stop;
    asked_to_stop = NULL;
    if (stop != NULL) stop(event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? SIGINT : SIGTERM);
    return stop != NULL;
}

void call_on_stop(void (*stop)(int signal))
{
    asked_to_stop = stop;
    SetConsoleCtrlHandler(on_event, TRUE);
}

void look_for_stop(void) {}

int terminal_columns(FILE *out)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    return GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(_fileno(out)), &info) ? info.dwSize.X : 0;
}

double processor_now_s(void)
{
    FILETIME begun, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user)) return 0;
    ULARGE_INTEGER a = {.LowPart = kernel.dwLowDateTime, .HighPart = kernel.dwHighDateTime};
    ULARGE_INTEGER b = {.LowPart = user.dwLowDateTime, .HighPart = user.dwHighDateTime};
    return 1e-7 * (double)(a.QuadPart + b.QuadPart);
}
