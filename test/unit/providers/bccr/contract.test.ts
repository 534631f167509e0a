// Contract suite of providers, for both services of the central bank.

import { readFileSync } from 'node:fs'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { testProvider } from '../../../contract/provider.ts'

const captured = (name: string) =>
  readFileSync(new URL(`../../../fixtures/bccr/${name}.json`, import.meta.url), 'utf8')

const alone = { table: '1', indicator: '317' }
const before = { from: '1970-01-01', to: '1970-01-31' }

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Formats a day as the title of a column: `21 mar 2026`. */
function pageTitle(day: string): string {
  const [year, month, date] = day.split('-')
  return `${date} ${MONTHS[Number(month) - 1]} ${year}`
}

testProvider('bccr with a token', {
  provider: bccr,
  token: 'operator-secret.token',
  valid: {
    ask: { ...alone, window: { from: '2026-09-17', to: '2026-09-19' } },
    body: captured('public-series-317'),
    values: [
      ['317', '2026-09-17', '443.43'],
      ['317', '2026-09-18', '443.2'],
      ['317', '2026-09-19', '496.44'],
    ],
  },
  empty: { ask: { ...alone, window: before }, body: captured('public-no-data') },
  unsynchronized: {
    reply: {
      status: 503,
      headers: { 'Retry-After': '3600' },
      body: '{"CodigoError":"503","Mensaje":"Los días del 2026-09-18 al 2026-09-18 no se han sincronizado."}',
    },
    days: { from: '2026-09-18', to: '2026-09-18' },
  },
  rewriteRows: (change) =>
    captured('public-series-317').replace(
      /(?<="series": )\[.*?\]/s,
      (all) => `[${change((JSON.parse(all) as unknown[]).map((row) => JSON.stringify(row))).join()}]`,
    ),
  strangers: [captured('public-series-317').replace('"317"', '"318"'), captured('public-table-520')],
  // A JSON number has no comma.
  rewrite: ({ value, day }) =>
    captured('public-series-317')
      .replace(/(?<="valorDatoPorPeriodo": )[\d.]+/g, (text) => `"${value(text)}"`)
      .replace(/(?<="fecha": ")[^"]+/g, day),
  wrong: [
    '[]',
    '{}',
    '"x"',
    '{"estado":false,"datos":[]}',
    '{"estado":true,"datos":{}}',
    '{"columnas":[],"indicadoresRaiz":[]}',
  ],
})

testProvider("bccr's website", {
  provider: bccr,
  token: undefined,
  valid: {
    ask: { ...alone, window: { from: '2026-03-21', to: '2026-03-24' } },
    body: captured('site-table-1'),
    values: [
      ['317', '2026-03-21', '463.24'],
      ['317', '2026-03-22', '463.24'],
      ['317', '2026-03-23', '463.24'],
      ['317', '2026-03-24', '463.5'],
    ],
  },
  empty: {
    ask: { ...alone, window: before },
    body: '{"columnas":[{"field":"nombre"}],"indicadoresRaiz":[]}',
  },
  rewrite: ({ value, day }) =>
    captured('site-table-1')
      .replace(/(?<="serie\d+Ingles": ")[^"]+/g, value)
      .replace(/(?<="tituloIngles": ")\d\d mar 2026/g, (title) =>
        pageTitle(day(`2026-03-${title.slice(0, 2)}`)),
      ),
  rewriteRows: (change) =>
    captured('site-table-1').replace(
      /(?<="columnas": )\[.*?\](?=, "indicadoresRaiz")/s,
      (all) => `[${change((JSON.parse(all) as unknown[]).map((row) => JSON.stringify(row))).join()}]`,
    ),
  mayLackRows: false,
  strangers: [captured('site-table-1').replace('317', '3170').replace('318', '3180')],
  sendsEarlierDays: true,
  wrong: ['[]', '{}', '"x"', '{"estado":true,"datos":[]}', '{"columnas":{},"indicadoresRaiz":[]}'],
  signOn: (path) => (path.endsWith('/GenereCSRF') ? 'csrf.token' : undefined),
})
