# What a processor has and neither Python nor Cython has a word for.

ctypedef unsigned long long EightLanes[8]

cdef extern from "Python.h":
    const bint PY_LITTLE_ENDIAN

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define lowest_bit(number) __builtin_ctzll(number)
    #else
    static int lowest_bit(unsigned long long number) {
        int place = 0;
        while (!(number >> place & 1)) place++;
        return place;
    }
    #endif
    """
    int lowest_bit(unsigned long long number)
