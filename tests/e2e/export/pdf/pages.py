#!/usr/bin/env python3
"""usage: pages.py starts WORDS NAME...        the time at which each name's box begins, by its left edge
       pages.py order WORDS NAME...         the names from top to bottom
       pages.py boxes PPM WORDS NAME...     how long each name's box is, by its colour (144 dots an inch)
       pages.py red PPM                     dots in the colour of losses
       pages.py within WORDS FROM TO STEP FIRST MORE   whether names lie in boxes that begin at FIRST, FIRST + STEP, ...
                                            and are 0, MORE, 2 * MORE, ... long
       pages.py cut WORDS                   words that end in an ellipsis
       pages.py on_page WORDS               whether all words lie on their page

WORDS is what pdftotext -bbox writes, PPM what pdftoppm does. The window is read from the page.
"""
import re
import sys

LEFT, RIGHT, INSET, SCALE = 28.0, 842 - 28.0, 1.5, 2.0


def words_of(path):
    """[(page, text, left, top, right, bottom)]"""
    found, page = [], 0
    with open(path, encoding="utf8") as file:
        for line in file:
            page += "<page " in line
            m = re.search(r'<word xMin="([^"]*)" yMin="([^"]*)" xMax="([^"]*)" yMax="([^"]*)">(.*)</word>', line)
            if m:
                found.append((page, m.group(5)) + tuple(float(m.group(i)) for i in range(1, 5)))
    return found


def window(words):
    """In ns."""
    texts = [w[1] for w in words]
    at = texts.index("from")
    return [round(float(texts[at + i].rstrip("s")) * 1e9) for i in (1, 3)]


def time_of(words, x):
    start, end = window(words)
    return start + (x - LEFT) / (RIGHT - LEFT) * (end - start)


def find(words, name):
    """The word as the name of a box: not in the head, the label of a lane or the legend."""
    lanes = {w[3] for w in words if w[1] == "thread"}
    for w in words:
        if w[1] == name and 80 < w[3] < 560 and not any(abs(w[3] - y) < 2 for y in lanes):
            return w
    raise SystemExit("%s is not on the page" % name)


def read_ppm(path):
    data = open(path, "rb").read()
    m = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data)
    return int(m.group(1)), int(m.group(2)), data[m.end():]


def dot(picture, x, y):
    at = (int(y) * picture[0] + int(x)) * 3
    return tuple(picture[2][at:at + 3])


def box(picture, word):
    """Left and right end of the run of the box's colour, between the letters and its lower edge."""
    y = (word[5] + 0.2) * SCALE
    x = (word[2] - 0.8) * SCALE
    colour = dot(picture, x, y)
    low = high = int(x)
    while dot(picture, low - 1, y) == colour:
        low -= 1
    while dot(picture, high + 1, y) == colour:
        high += 1
    return low / SCALE, (high + 1) / SCALE


def main(verb, *args):
    if verb == "starts":
        words = words_of(args[0])
        print(*("%s %d" % (n, round(time_of(words, find(words, n)[2] - INSET) / 100) * 100) for n in args[1:]))
    elif verb == "order":
        words = words_of(args[0])
        print(*sorted(args[1:], key=lambda n: find(words, n)[3]))
    elif verb == "boxes":
        picture, words = read_ppm(args[0]), words_of(args[1])
        told = []
        for name in args[2:]:
            low, high = box(picture, find(words, name))
            length = time_of(words, high) - time_of(words, low)
            told.append("%s %d" % (name, round(length / 100) * 100))
        print(*told)
    elif verb == "red":
        width, height, data = read_ppm(args[0])
        print(sum(data[i] > 150 and data[i + 1] < 90 and data[i + 2] < 100 for i in range(0, width * height * 3, 3)))
    elif verb == "within":
        words = words_of(args[0])
        start, end, step, first, more = (int(a) for a in args[1:])
        for w in words:
            if not w[1].startswith("a_") and w[1] != "a\u2026":
                continue
            n = int((time_of(words, w[2] - INSET) - first + step / 4) // step)
            limit = LEFT + (first + n * step + n * more - start) / (end - start) * (RIGHT - LEFT)
            if w[4] > limit + 0.05:
                raise SystemExit("%s reaches to %.2f, its box to %.2f" % (w[1], w[4], limit))
        print("ok")
    elif verb == "cut":
        print(sum(w[1].endswith("\u2026") for w in words_of(args[0])))
    elif verb == "on_page":
        beyond = [w for w in words_of(args[0]) if w[2] < LEFT - 1 or w[4] > RIGHT + 1 or w[3] < 20 or w[5] > 590]
        print("ok" if not beyond else beyond[:3])


main(*sys.argv[1:])
