"""Just enough of the DEX format to say which methods a file has code of, independently of nanoscope's own reader."""
import struct

PRIMITIVES = {"V": "void", "Z": "boolean", "B": "byte", "S": "short", "C": "char", "I": "int", "J": "long", "F": "float", "D": "double"}


def pretty_type(descriptor):
    arrays = len(descriptor) - len(descriptor.lstrip("["))
    base = descriptor[arrays:]
    return (PRIMITIVES.get(base) or base[1:-1].replace("/", ".")) + "[]" * arrays


def parameters(signature):
    """The descriptors of the parameters of "(...)R", and R."""
    inner, result = signature[1:].split(")")
    found = []
    at = 0
    while at < len(inner):
        end = at
        while inner[end] == "[":
            end += 1
        end = inner.index(";", end) if inner[end] == "L" else end
        found.append(inner[at:end + 1])
        at = end + 1
    return found, result


def pretty_method(class_name, name, signature):
    """As ART shows methods: "int pkg.Class.method(long, java.lang.String[])"; the class with dots."""
    arguments, result = parameters(signature)
    return f"{pretty_type(result)} {class_name}.{name}({', '.join(map(pretty_type, arguments))})"


class Dex:
    """The methods of one dex file."""

    def __init__(self, data):
        self.data = data
        header = struct.unpack_from("<20I", data, 0x20)
        (self.strings, self.types, self.protos, self.methods, self.classes) = [
            (header[i], header[i + 1]) for i in (6, 8, 10, 14, 16)]

    def leb(self, at):
        value = shift = 0
        while True:
            byte = self.data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7

    def string(self, index):
        at = struct.unpack_from("<I", self.data, self.strings[1] + 4 * index)[0]
        _, at = self.leb(at)
        return self.data[at:self.data.index(b"\0", at)].decode("utf-8", "surrogatepass")

    def type(self, index):
        return self.string(struct.unpack_from("<I", self.data, self.types[1] + 4 * index)[0])

    def signature(self, index):
        _, result, at = struct.unpack_from("<III", self.data, self.protos[1] + 12 * index)
        count = struct.unpack_from("<I", self.data, at)[0] if at else 0
        inner = "".join(self.type(t) for t in struct.unpack_from(f"<{count}H", self.data, at + 4)) if count else ""
        return f"({inner}){self.type(result)}"

    def method(self, index):
        """In ART's pretty form."""
        owner, proto, name = struct.unpack_from("<HHI", self.data, self.methods[1] + 8 * index)
        return pretty_method(pretty_type(self.type(owner)), self.string(name), self.signature(proto))

    def with_code(self):
        """The methods that have code, each in ART's pretty form, in the order of the file."""
        for i in range(self.classes[0]):
            at = struct.unpack_from("<8I", self.data, self.classes[1] + 32 * i)[6]
            if at == 0:
                continue
            sizes = []
            for _ in range(4):
                value, at = self.leb(at)
                sizes.append(value)
            for _ in range(2 * (sizes[0] + sizes[1])):
                _, at = self.leb(at)
            for size in sizes[2:]:
                index = 0
                for _ in range(size):
                    step, at = self.leb(at)
                    _, at = self.leb(at)
                    code, at = self.leb(at)
                    index += step
                    if code:
                        yield self.method(index)
