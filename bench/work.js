// What bench/run gives to mujs, an interpreter of JavaScript: a parser, regular expressions, JSON, sorting,
// closures, strings, exceptions.
var rounds = Number(scriptArgs[0] || 20);

function tokens(text) {
	var found, all = [], pattern = /([A-Za-z_]\w*)|(\d+\.?\d*)|("[^"]*")|([-+*\/(){};=<>])/g;
	while ((found = pattern.exec(text)))
		all.push(found[0]);
	return all;
}

// Sums and products with brackets, by recursive descent.
function evaluate(list) {
	var at = 0;
	function factor() {
		if (list[at] === "(") {
			at++;
			var inner = sum();
			at++;
			return inner;
		}
		return Number(list[at++]);
	}
	function product() {
		var value = factor();
		while (list[at] === "*" || list[at] === "/")
			value = list[at++] === "*" ? value * factor() : value / factor();
		return value;
	}
	function sum() {
		var value = product();
		while (list[at] === "+" || list[at] === "-")
			value = list[at++] === "+" ? value + product() : value - product();
		return value;
	}
	return sum();
}

function Shape(name, sides) { this.name = name; this.sides = sides; }
Shape.prototype.toString = function () { return this.name + ":" + this.sides; };

var total = 0;
for (var round = 0; round < rounds; round++) {
	for (var i = 0; i < 30; i++)
		total += evaluate(tokens("(" + i + " + 4) * (3 + " + round + ") - 12 / (2 + 1)"));
	var shapes = [];
	for (i = 0; i < 300; i++)
		shapes.push(new Shape("s" + (i * 7919) % 1009, i % 12));
	shapes.sort(function (a, b) { return a.sides - b.sides || (a.name < b.name ? -1 : 1); });
	var copy = JSON.parse(JSON.stringify(shapes));
	total += copy.map(function (s) { return s.sides; }).filter(function (n) { return n % 2; }).length;
	var words = shapes.join(" ").toUpperCase().split(" ");
	for (i = 0; i < words.length; i++) {
		total += words[i].replace(/S(\d)/, "<$1>").length;
		try {
			if (i % 50 === 0)
				throw new Error(words[i]);
		} catch (error) {
			total += error.message.indexOf(":");
		}
	}
	total += Math.floor(Math.sin(round) * 100) + new Date(round * 86400000).getUTCDate();
}
print(total);
