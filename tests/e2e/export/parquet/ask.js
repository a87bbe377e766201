// usage: ask.js SQL...    what DuckDB answers, a JSON array a row, two dashes behind each statement but the
// last; 64-bit numbers are texts
const { DuckDBInstance } = require('@duckdb/node-api');

async function main() {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const answers = [];
    for (const sql of process.argv.slice(2)) {
        const result = await connection.runAndReadAll(sql);
        answers.push(result.getRowsJson().map((row) => JSON.stringify(row) + '\n').join(''));
    }
    process.stdout.write(answers.join('--\n'));
}

main().catch((error) => {
    console.error(String(error));
    process.exit(1);
});
