#!/usr/bin/env python3
"""usage: edit.py LIBCORE    the few edits by which Android 10's core library fits Debian's ICU and has no fdlibm or BoringSSL"""
import re
import sys

ROOT = sys.argv[1] + "/"


def edit(path, change):
    with open(ROOT + path, encoding="utf-8") as file:
        before = file.read()
    after = change(before)
    if after == before:
        sys.exit(f"edit.py: nothing to edit in {path}")
    with open(ROOT + path, "w", encoding="utf-8") as file:
        file.write(after)


def between(text, start, end, instead):
    """TEXT with INSTEAD in place of what begins with START and ends before END."""
    a = text.index(start)
    return text[:a] + instead + text[text.index(end, a):]


# What Android's ICU has and the original has not.
edit("ojluni/src/main/java/java/text/DecimalFormat.java", lambda s: s.replace("DecimalFormat_ICU58_Android", "DecimalFormat"))
edit("ojluni/src/main/java/sun/util/locale/provider/CalendarDataUtility.java",
     lambda s: s.replace("(ULocale.forLocale(locale), calendarType)", "(ULocale.forLocale(locale))"))
edit("ojluni/src/main/java/java/time/format/DateTimeFormatterBuilder.java",
     lambda s: between(s, "String pattern = Calendar.getDateTimeFormatString(", ";", 'String pattern = "yyyy-MM-dd HH:mm:ss"'))
# ICU finds its own data here.
edit("luni/src/main/native/libcore_icu_ICU.cpp",
     lambda s: "#define FALSE 0\n#define TRUE 1\n" +
     between(s, "    // Tell ICU it can *only*", "    // Failures to find the ICU data tend", ""))
# libm in place of fdlibm, and no BigInteger by BoringSSL.
edit("ojluni/src/main/native/StrictMath.c",
     lambda s: re.sub(r"\bieee_(\w+)", r"\1", s.replace('#include "../../external/fdlibm/fdlibm.h"', "#include <math.h>")))
edit("luni/src/main/native/java_math_NativeBN.cpp",
     lambda s: '#include "jni.h"\nvoid register_java_math_NativeBN(JNIEnv*) {}\n')
