// The ECB's forms of a table of days. Its page teaches readers to match each line of the XML with regular expressions.
// So there is one Cube a line, in single quotes, with the rate as its last attribute.

import type { DailyTableRow } from '../../../domain/rates/day-tables.ts'
import { escapeText } from '../bccr/rows.ts'

const XML_BEGIN = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>`
const XML_SENDER_END = `</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
`
const XML_END = '\t</Cube>\n</gesmes:Envelope>\n'
const NO_RATE = 'N/A'
const ROWS_AT_ONCE = 4 // some 180 rates, in about a millisecond

/** XML of the rows, in parts. `sender`: name of the provider. */
export function* xmlParts(sender: string, rows: Iterable<DailyTableRow>): Generator<string, void> {
  yield* joinRows(XML_BEGIN + escapeText(sender) + XML_SENDER_END, rows, xmlRow)
  yield XML_END
}

/** CSV of the rows, with a column for each quote, in parts. */
export function* csvParts(quotes: readonly string[], rows: Iterable<DailyTableRow>): Generator<string, void> {
  yield* joinRows(`Date,${quotes.join(',')},\n`, rows, ({ day, crosses }) => {
    const rates = new Map(crosses.map(({ quote, rate }) => [quote, rate]))
    return `${day},${quotes.map((quote) => rates.get(quote) ?? NO_RATE).join(',')},\n`
  })
}

function* joinRows(
  head: string,
  rows: Iterable<DailyTableRow>,
  encode: (row: DailyTableRow) => string,
): Generator<string, void> {
  let [text, count] = [head, 0]
  for (const row of rows) {
    text += encode(row)
    count += 1
    if (count % ROWS_AT_ONCE > 0) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

function xmlRow({ day, crosses }: DailyTableRow): string {
  const cubes = crosses.map(({ quote, rate }) => `\t\t\t<Cube currency='${quote}' rate='${rate}'/>\n`)
  return `\t\t<Cube time='${day}'>\n${cubes.join('')}\t\t</Cube>\n`
}
