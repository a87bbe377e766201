#!/usr/bin/env python3
"""usage: generate.py OUT    programs in smali that are too regular, or too big, to be written by hand: OUT/PROGRAM/*.smali

regs    methods of every interesting number of registers, with every shape of arguments; a class for each number
far     methods whose branches only just reach, forwards and backwards, and (far.Enormous) one of more than 100,000 code units
jumbo   more strings than 16 bits can count, and instructions that only just do with 16 bits
full    a dex file with room for three more method references
"""
import os
import sys

# What a program shows is summed up, and printed now and then: a line for each value is too much for ART's trace.
LOG = """.class public Llog/Log;
.super Ljava/lang/Object;
.field private static sum:J
.method public static j(J)V
    .registers 6
    sget-wide v0, Llog/Log;->sum:J
    const-wide/16 v2, 0x1f
    mul-long/2addr v0, v2
    add-long/2addr v0, p0
    sput-wide v0, Llog/Log;->sum:J
    return-void
.end method
.method public static i(I)V
    .registers 3
    int-to-long v0, p0
    invoke-static {v0, v1}, Llog/Log;->j(J)V
    return-void
.end method
.method public static d(D)V
    .registers 3
    invoke-static {p0, p1}, Ljava/lang/Double;->doubleToRawLongBits(D)J
    move-result-wide p0
    invoke-static {p0, p1}, Llog/Log;->j(J)V
    return-void
.end method
.method public static o(Ljava/lang/Object;)V
    .registers 2
    invoke-virtual {p0}, Ljava/lang/Object;->hashCode()I
    move-result v0
    invoke-static {v0}, Llog/Log;->i(I)V
    return-void
.end method
.method public static fail(Ljava/lang/String;)V
    .registers 2
    new-instance v0, Ljava/lang/IllegalStateException;
    invoke-direct {v0, p0}, Ljava/lang/IllegalStateException;-><init>(Ljava/lang/String;)V
    throw v0
.end method
.method public static show()V
    .registers 3
    sget-object v0, Ljava/lang/System;->out:Ljava/io/PrintStream;
    sget-wide v1, Llog/Log;->sum:J
    invoke-virtual {v0, v1, v2}, Ljava/io/PrintStream;->println(J)V
    return-void
.end method
"""
SHOW = "    invoke-static {}, Llog/Log;->show()V"
REGISTERS = (0, 1, 2, 3, 4, 5, 8, 12, 13, 14, 15, 16, 17, 18, 19, 20, 31, 32, 127, 128, 252, 253, 254, 255, 256, 257, 258, 259, 300,
             1000, 32767, 65500, 65528, 65529, 65530, 65531, 65532, 65533, 65534, 65535)
# Shapes of arguments; "L" is an object.
SHAPES = ("", "I", "J", "L", "IJ", "JI", "JJ", "DLI", "IJLDI", "LJJJJ", "IIIIIIIIIIIIIII", "JIJIJIJIJIJ", "I" * 254)
WIDE = "JD"


def type_of(letter):
    return "Ljava/lang/Object;" if letter == "L" else letter


def width(shape):
    return sum(2 if c in WIDE else 1 for c in shape)


def log_call(letter):
    name = {"I": "i", "J": "j", "D": "d", "L": "o"}[letter]
    return f"Llog/Log;->{name}({type_of(letter)})V"


def log(lines, letter, reg):
    """By a range: reaches every register."""
    last = reg + 1 if letter in WIDE else reg
    lines.append(f"    invoke-static/range {{v{reg} .. v{last}}}, {log_call(letter)}")


def arguments(shape, first):
    """(letter, register) of each."""
    at = first
    for letter in shape:
        yield letter, at
        at += 2 if letter in WIDE else 1


def locals_code(lines, count):
    """Locals low, at the borders of the encodings, and last; wide ones across those borders."""
    if count == 0:
        return
    lines.append("    const/4 v0, 5")
    for reg in sorted({r for r in (1, 2, 13, 14, 15, 16, 17, 253, 254, 255, 256, 257, count - 2, count - 1) if 0 < r < count}):
        lines.append(f"    const/16 v{reg}, {reg % 30000}" if reg < 256 else f"    move/16 v{reg}, v0")
        log(lines, "I", reg)
    if count >= 4:
        lines.append("    const-wide/16 v0, 0x7777")
        for low in sorted({r for r in (2, 13, 14, 15, 254, 255, 256, count - 2) if 2 <= r < count - 1}):
            lines.append(f"    move-wide/16 v{low}, v0")
            log(lines, "J", low)


def try_code(lines, label, count):
    """An exception that comes and goes inside the method."""
    if count == 0:
        return
    lines += [f"    :try_{label}", "    const-string v0, \"inside\"", "    invoke-static {v0}, Llog/Log;->fail(Ljava/lang/String;)V",
              f"    :end_{label}", f"    .catch Ljava/lang/IllegalStateException; {{:try_{label} .. :end_{label}}} :caught_{label}",
              f"    goto :after_{label}", f"    :caught_{label}", "    move-exception v0",
              "    invoke-virtual {v0}, Ljava/lang/Throwable;->getMessage()Ljava/lang/String;", "    move-result-object v0",
              "    invoke-static {v0}, Llog/Log;->o(Ljava/lang/Object;)V", f"    :after_{label}"]


def overwrite(lines, letter, reg, have_local):
    """An argument's register is a register like others."""
    if letter == "I" and reg < 16:
        lines.append(f"    neg-int v{reg}, v{reg}")
        lines.append(f"    add-int/2addr v{reg}, v{reg}")
    elif letter == "J" and reg < 15:
        lines.append(f"    neg-long v{reg}, v{reg}")
    elif letter == "I" and reg < 256:
        lines.append(f"    add-int/lit8 v{reg}, v{reg}, 1")
    elif letter == "J" and reg < 255:
        lines.append(f"    add-long v{reg}, v{reg}, v{reg}")
    elif letter == "L" and reg < 256:
        lines.append(f"    const-string v{reg}, \"other\"")
    elif letter == "I" and have_local:
        lines += ["    const/4 v0, -3", f"    move/16 v{reg}, v0"]


def method(name, shape, registers, kind):
    """A method of KIND (static, virtual, synchronized, init) that shows its registers; None where it does not fit."""
    this = 0 if kind == "static" else 1
    first = registers - width(shape)
    count = first - this
    if count < 0 or width(shape) + this > 255 or (kind == "init" and count > 0 and registers > 60000):
        return None
    result = shape[-1] if shape and kind in ("static", "synchronized") else "V"
    flags = {"static": "static", "virtual": "", "synchronized": "declared-synchronized", "init": "constructor"}[kind]
    signature = "".join(map(type_of, shape))
    lines = [f".method public {flags} {'<init>' if kind == 'init' else name}({signature}){type_of(result)}", f"    .registers {registers}"]
    for letter, reg in arguments(shape, first):
        log(lines, letter, reg)
    if kind == "init":
        lines.append(f"    invoke-direct/range {{v{count} .. v{count}}}, Ljava/lang/Object;-><init>()V")
    locals_code(lines, count)
    try_code(lines, name, count)
    for letter, reg in arguments(shape, first):
        overwrite(lines, letter, reg, count > 0)
        log(lines, letter, reg)
    if result == "V":
        lines.append("    return-void")
    else:
        reg = list(arguments(shape, first))[-1][1]
        move, ret = {"I": ("move", "return"), "L": ("move-object", "return-object")}.get(result, ("move-wide", "return-wide"))
        if reg > 255:
            lines.append(f"    {move}/16 v0, v{reg}")
            reg = 0
        lines.append(f"    {ret} v{reg}")
    lines.append(".end method")
    return lines if result == "V" or count >= 2 or registers <= 256 else None


def call(lines, target, name, shape, kind):
    """From v0 on; this, if any, is v0."""
    first = 0 if kind == "static" else 1
    for i, (letter, reg) in enumerate(arguments(shape, first)):
        if letter == "I":
            lines.append(f"    const/16 v{reg}, {i * 7 + 1}")
        elif letter == "J":
            lines.append(f"    const-wide v{reg}, {hex(0x100000000 * (i + 1) + i)}L")
        elif letter == "D":
            lines.append(f"    const-wide v{reg}, {i}.5")
        else:
            lines.append(f"    const-string v{reg}, \"object {i}\"")
    last = first + width(shape) - 1
    registers = f"{{v0 .. v{last}}}" if last >= 0 else "{}"
    how = {"static": "invoke-static", "init": "invoke-direct"}.get(kind, "invoke-virtual")
    result = shape[-1] if shape and kind in ("static", "synchronized") else "V"
    signature = "".join(map(type_of, shape))
    if kind != "static":
        lines.append(f"    new-instance v0, {target}")
        if kind != "init":
            lines.append(f"    invoke-direct {{v0}}, {target}-><init>()V")
    lines.append(f"    {how}{'/range' if last >= 0 else ''} {registers}, {target}->{'<init>' if kind == 'init' else name}({signature})"
                 f"{type_of(result)}")
    if result != "V":
        moved = {"I": "move-result", "L": "move-result-object"}.get(result, "move-result-wide")
        lines.append(f"    {moved} v0")
        log(lines, result, 0)


def regs(out):
    """A class for each number of registers, and one with main() that calls all."""
    mains = []
    for registers in REGISTERS:
        target = f"Lregs/R{registers};"
        text = [f".class public {target}", ".super Ljava/lang/Object;"]
        calls = [".method public static run()V", "    .registers 257"]
        for kind in ("static", "virtual", "synchronized", "init"):
            for n, shape in enumerate(SHAPES):
                # The most registers cost the verifier a table each; a few shapes show the same.
                if registers > 60000 and (kind not in ("static", "virtual") or shape not in ("", "J", "DLI", "IJLDI")):
                    continue
                name = f"{kind}{n}"
                body = method(name, shape, registers, kind)
                if body:
                    text += body
                    call(calls, target, name, shape, kind)
        if not any("<init>()V" in line and line.startswith(".method") for line in text):
            text += [".method public constructor <init>()V", "    .registers 1",
                     "    invoke-direct {p0}, Ljava/lang/Object;-><init>()V", "    return-void", ".end method"]
        calls += ["    return-void", ".end method"]
        save(out, f"R{registers}.smali", text + calls)
        mains += [f"    invoke-static {{}}, {target}->run()V", SHOW]
    save(out, "Main.smali", [".class public Lregs/Main;", ".super Ljava/lang/Object;", ".method public static main([Ljava/lang/String;)V",
                             "    .registers 1", *mains, "    return-void", ".end method"])
    save(out, "Log.smali", [LOG])


def filler(units):
    """Code units that do a little: 2 each, and a last one of 1."""
    return ["    add-int/lit8 v0, v0, 1"] * (units // 2) + ["    nop"] * (units % 2)


def far(out):
    """Offsets within a few units of what the encoding can say, with returns between: each grows when it is rewritten."""
    text = [".class public Lfar/Main;", ".super Ljava/lang/Object;"]
    main = [".method public static main([Ljava/lang/String;)V", "    .registers 2"]

    def add(name, body, values, target="Lfar/Main;"):
        text.extend([f".method public static {name}(I)I", "    .registers 3", *body, ".end method"])
        for value in values:
            main.extend([f"    const/16 v0, {value}", f"    invoke-static {{v0}}, {target}->{name}(I)I", "    move-result v0",
                         "    invoke-static {v0}, Llog/Log;->i(I)V", SHOW])

    early = ["    if-ltz p0, :go_on", "    return v0", "    :go_on"]
    for units in (100, 118, 119, 120, 121, 122, 123, 124, 125, 126):
        add(f"near{units}", ["    const/4 v0, 0", "    if-eqz p0, :start", "    if-lez p0, :back", "    goto :there", "    :start", *early,
                             *filler(units - 6), "    :there", "    add-int/lit8 v0, v0, 3", "    return v0", "    :back",
                             "    add-int/lit8 p0, p0, 1", "    goto :start"], (0, 1, -1))
    for units in (32000, 32740, 32755, 32757, 32758, 32760, 32761, 32762, 32763, 32764):
        add(f"forward{units}", ["    const/4 v0, 0", "    if-gtz p0, :end", *early, *filler(units - 8), "    :end", "    return v0"], (0, 1, -1))
        add(f"backward{units}", ["    const/4 v0, 0", "    :again", *early, *filler(units - 8), "    add-int/lit8 p0, p0, 1",
                                 "    if-gtz p0, :done", "    if-eq p0, p0, :again_by", "    :done", "    return v0", "    :again_by",
                                 "    goto/32 :again"], (0, -2))
        add(f"compare{units}", ["    const/4 v0, 0", "    const/4 v1, 1", "    if-eq p0, v1, :end", *early, *filler(units - 8), "    :end",
                                "    return v0"], (0, 1, -1))
    # Back by a branch of 16 bits.
    for units in (32740, 32750, 32755):
        add(f"loop{units}", ["    const/4 v0, 0", "    :again", "    if-nez p0, :on", "    return v0", "    :on", *filler(units - 8),
                             "    add-int/lit8 p0, p0, -1", "    if-gez p0, :again", "    return v0"], (0, 1, 2, -1))
    add("huge", table(20000), (0, 1, 2, 3))
    main += ["    return-void", ".end method"]
    save(out, "Main.smali", text + main)
    text[1:] = [".super Ljava/lang/Object;"]
    text[0] = ".class public Lfar/Enormous;"
    del main[2:]
    add("enormous", table(60000), (0, 1, 2, 3), "Lfar/Enormous;")
    main += ["    return-void", ".end method"]
    save(out, "Enormous.smali", text + main)
    save(out, "Log.smali", [LOG])


def table(units):
    """A switch to three places far from each other, one of them with an exception, and jumps between them."""
    return ["    const/4 v0, 0", "    packed-switch p0, :table", "    goto/32 :end", "    :one", *filler(units), "    if-ltz p0, :go_on",
            "    return v0", "    :go_on", "    :two", *filler(units), "    :try", "    const-string v1, \"far\"",
            "    invoke-static {v1}, Llog/Log;->fail(Ljava/lang/String;)V", "    :tried", "    .catchall {:try .. :tried} :caught", "    :three",
            *filler(units // 2 + 1), "    :end", "    return v0", "    :caught", "    move-exception v1", "    goto/32 :three", "    :table",
            "    .packed-switch 1", "    :one", "    :two", "    :three", "    .end packed-switch"]


def jumbo(out):
    """65,800 strings, from 'aaa 00000' on: those of the hook class sort into their middle and behind them."""
    per_class = 2000
    main = [".class public Ljumbo/Main;", ".super Ljava/lang/Object;", ".method public static main([Ljava/lang/String;)V", "    .registers 1"]
    for part in range(33):
        target = f"Ljumbo/P{part};"
        numbers = range(part * per_class, (part + 1) * per_class)
        body = [f".class public {target}", ".super Ljava/lang/Object;", ".method public static run(I)I", "    .registers 3",
                "    const/4 v0, 0", "    const/4 v1, 0"]
        for n in numbers:
            body.append(f"    const-string{'/jumbo' if n >= 64000 else ''} v1, \"L{'AZ'[n % 2]}{n:05}\"")
            if n % 500 == 499:
                body += ["    invoke-virtual {v1}, Ljava/lang/String;->hashCode()I", "    move-result v1", "    add-int/2addr v0, v1",
                         f"    if-nez p0, :on{n}", "    return v0", f"    :on{n}", "    add-int/lit8 p0, p0, -1", "    const/4 v1, 0"]
        save(out, f"P{part}.smali", body + ["    return v0", ".end method"])
        for value in (0, 2, 9):
            main += [f"    const/16 v0, {value}", f"    invoke-static {{v0}}, {target}->run(I)I", "    move-result v0",
                     "    invoke-static {v0}, Llog/Log;->i(I)V", SHOW]
    save(out, "Main.smali", main + ["    return-void", ".end method"])
    save(out, "Log.smali", [LOG])


def full(out):
    """Method references: those of LOG and main (below), and as many more as leave three of 65,536 free."""
    spare = 65536 - 3
    per_class = 1000
    # What LOG calls, its own methods, main.
    others = 4 + 6 + 1
    wanted = spare - others
    main = [".class public Lfull/Main;", ".super Ljava/lang/Object;", ".method public static main([Ljava/lang/String;)V", "    .registers 1",
            "    const/4 v0, 1"]
    made = part = 0
    while made < wanted:
        count = min(per_class, wanted - made)
        target = f"Lfull/P{part};"
        body = [f".class public {target}", ".super Ljava/lang/Object;"]
        for n in range(count):
            inner = [f"    invoke-static {{p0}}, {target}->m{n + 1}(I)I", "    move-result p0"] if n % 50 != 49 and n + 1 < count else []
            body += [f".method public static m{n}(I)I", "    .registers 1", "    add-int/lit8 p0, p0, 1", *inner, "    return p0", ".end method"]
        save(out, f"P{part}.smali", body)
        main += [f"    invoke-static {{v0}}, {target}->m0(I)I", "    move-result v0", "    invoke-static {v0}, Llog/Log;->i(I)V", SHOW]
        made += count
        part += 1
    save(out, "Main.smali", main + ["    return-void", ".end method"])
    save(out, "Log.smali", [LOG])


def save(folder, name, lines):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for program in (regs, far, jumbo, full):
        program(os.path.join(sys.argv[1], program.__name__))


if __name__ == "__main__":
    main()
