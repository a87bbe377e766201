/* test_sha1.c - SHA-1, ours and libcrypto's. */
#include "android/dex/sha1.h"
#include "tap.h"

static void check(const char *text, const char *want)
{
    uint8_t hash[NSC_SHA1_BYTES];
    char got[2 * NSC_SHA1_BYTES + 1];

    for (int ours = 0; ours < 2; ours++) {
        (ours ? nsc_sha1_plain : nsc_sha1)(text, strlen(text), hash);
        for (unsigned i = 0; i < NSC_SHA1_BYTES; i++)
            snprintf(got + 2 * i, 3, "%02x", hash[i]);
        CHECK_STR(got, want);
    }
}

int main(void)
{
    uint8_t data[300], one[NSC_SHA1_BYTES], two[NSC_SHA1_BYTES];
    int differ = 0;

    check("", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    check("abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 + i / 11);
    for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
        nsc_sha1(data, bytes, one);
        nsc_sha1_plain(data, bytes, two);
        differ += memcmp(one, two, sizeof one) != 0;
    }
    CHECK(differ == 0);
    return t_done();
}
