/* ustrenum.h - an enumeration of strings around C's, from a header that ICU does not install. */
#pragma once
#include <unicode/strenum.h>
#include <unicode/uenum.h>
#include <unicode/unistr.h>

U_NAMESPACE_BEGIN
class UStringEnumeration : public StringEnumeration
{
  public:
    explicit UStringEnumeration(UEnumeration *from) : from_(from) {}
    ~UStringEnumeration() override { uenum_close(from_); }
    int32_t count(UErrorCode &status) const override { return uenum_count(from_, &status); }
    const UnicodeString *snext(UErrorCode &status) override
    {
        int32_t length;
        const UChar *chars = uenum_unext(from_, &length, &status);
        if (!chars)
            return nullptr;
        text_.setTo(chars, length);
        return &text_;
    }
    void reset(UErrorCode &status) override { uenum_reset(from_, &status); }
    UClassID getDynamicClassID() const override { return nullptr; }

  private:
    UEnumeration *from_;
    UnicodeString text_;
};
U_NAMESPACE_END
