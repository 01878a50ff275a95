/* Status texts, version, and features of this build. */
#include "env.h"

const char *cof_status_text(cof_status status)
{
    switch (status) {
    case COF_OK:
        return "success";
    case COF_ERR_MEMORY:
        return "out of memory";
    case COF_ERR_ARGUMENT:
        return "wrong argument";
    case COF_ERR_IO:
        return "a file could not be opened, read or written";
    case COF_ERR_DATA:
        return "the table cannot be read";
    case COF_ERR_MODEL:
        return "not a model file, or a damaged one";
    case COF_ERR_TOO_NEW:
        return "the model file needs a newer version of the library";
    case COF_ERR_UNSUPPORTED:
        return "this build lacks what the input needs";
    case COF_ERR_NO_PREDICTION:
        return "the model cannot label rows";
    case COF_ERR_FEW_ROWS:
        return "fewer distinct rows than clusters";
    case COF_ERR_NO_COLUMNS:
        return "no column tells rows apart";
    case COF_ERR_NO_RESULT:
        return "the method has no result for this table";
    case COF_ERR_MISSING:
        return "a value is missing";
    case COF_ERR_BACKEND:
        return "threads or a device failed";
    case COF_ERR_NO_BACKEND:
        return "no such backend in this build or on this host";
    case COF_ERR_STOPPED:
        return "stopped on request";
    }
    return "unknown status";
}

#define STRING_OF(x) #x
#define STRING(x)    STRING_OF(x)

const char *cof_version(void)
{
    return STRING(COF_VERSION_MAJOR) "." STRING(COF_VERSION_MINOR) "." STRING(COF_VERSION_PATCH);
}

const char *cof_build_info(void)
{
#if defined(COFI_HAVE_ZLIB) && defined(COFI_HAVE_ZSTD)
    return "gzip, zstd";
#elif defined(COFI_HAVE_ZLIB)
    return "gzip";
#elif defined(COFI_HAVE_ZSTD)
    return "zstd";
#else
    return "no compressed input";
#endif
}
