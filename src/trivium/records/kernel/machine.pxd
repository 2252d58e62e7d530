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

    #if defined(__SIZEOF_INT128__)
    static inline unsigned long long folded_128_bits(unsigned long long a, unsigned long long b) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (unsigned long long)product ^ (unsigned long long)(product >> 64);
    }
    #else
    static inline unsigned long long folded_128_bits(unsigned long long a, unsigned long long b) {
        unsigned long long a_low = a & 0xffffffff, a_high = a >> 32;
        unsigned long long b_low = b & 0xffffffff, b_high = b >> 32;
        unsigned long long low = a_low * b_low;
        unsigned long long cross = (low >> 32) + (a_high * b_low & 0xffffffff) + a_low * b_high;
        unsigned long long high = (a_high * b_low >> 32) + (cross >> 32) + a_high * b_high;
        return ((cross << 32) | (low & 0xffffffff)) ^ high;
    }
    #endif

    /* A lane times a lane, 32 bits by 32: compilers do not find this instruction by themselves. */
    #if defined(__SSE2__)
    #include <emmintrin.h>
    #define MULTIPLIES_LANES 1
    static void add_stripes(
        unsigned long long *products, unsigned long long *sums, const unsigned char *stripe,
        const unsigned char *secret, Py_ssize_t count
    ) {
        __m128i product[4], sum[4];
        for (int i = 0; i < 4; i++) {
            product[i] = _mm_loadu_si128((const __m128i *)products + i);
            sum[i] = _mm_loadu_si128((const __m128i *)sums + i);
        }
        for (; count > 0; count--, stripe += 64, secret += 8)
            for (int i = 0; i < 4; i++) {
                __m128i lanes = _mm_loadu_si128((const __m128i *)stripe + i);
                __m128i key = _mm_xor_si128(lanes, _mm_loadu_si128((const __m128i *)secret + i));
                sum[i] = _mm_add_epi64(sum[i], lanes);
                product[i] = _mm_add_epi64(product[i], _mm_mul_epu32(key, _mm_srli_epi64(key, 32)));
            }
        for (int i = 0; i < 4; i++) {
            _mm_storeu_si128((__m128i *)products + i, product[i]);
            _mm_storeu_si128((__m128i *)sums + i, sum[i]);
        }
    }
    #else
    #define MULTIPLIES_LANES 0
    #define add_stripes(products, sums, stripe, secret, count) ((void)0)
    #endif
    """
    const bint MULTIPLIES_LANES
    int lowest_bit(unsigned long long number)
    unsigned long long folded_128_bits(unsigned long long a, unsigned long long b)
    void add_stripes(
        unsigned long long *products, unsigned long long *sums, const unsigned char *stripe,
        const unsigned char *secret, Py_ssize_t count
    )
