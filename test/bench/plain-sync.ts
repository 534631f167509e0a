// Smallest possible sync: reads and parses the bodies of a folder. Inserts each value with one prepared
// statement, a transaction for each body. No request, no check, no comparison with stored values; the digits of a
// number are those of the engine. Run by others: node plain-sync.ts FOLDER FILE; prints the number of values.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'

type Indicator = { codigoIndicador: string; series: { fecha: string; valorDatoPorPeriodo: number }[] }
type Body = { datos: (Indicator & { indicadores?: Indicator[] })[] }

const [folder = '', file = ''] = process.argv.slice(2)
const sqlite = new Sqlite(file)
sqlite.pragma('journal_mode = WAL')
sqlite.pragma('synchronous = FULL')
sqlite.exec(
  `create table rates (
    series_id integer not null, rate_date text not null, value text not null, rounded_to integer,
    primary key (series_id, rate_date)
  ) strict, without rowid`,
)
const insert = sqlite.prepare('insert or replace into rates values (?, ?, ?, null)')
const insertBody = sqlite.transaction((indicators: Indicator[]) => {
  for (const { codigoIndicador, series } of indicators) {
    const id = Number(codigoIndicador)
    for (const { fecha, valorDatoPorPeriodo } of series) insert.run(id, fecha, String(valorDatoPorPeriodo))
  }
})
for (const name of readdirSync(folder)) {
  const body = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Body
  insertBody(body.datos.flatMap((entry) => entry.indicadores ?? [entry]))
}
process.stdout.write(String(sqlite.prepare('select count(*) from rates').pluck().get()))
sqlite.close()
