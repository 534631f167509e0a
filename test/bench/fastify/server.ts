// Usual choice of a developer: Fastify, better-sqlite3 and two prepared statements. Key check, parameters checked by
// schema and answer are the same. The code follows Fastify's guide. Run by others: node server.ts PORT DATABASE

import { createHash } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import fastify from 'fastify'

const [port = '', file = ''] = process.argv.slice(2)
const sqlite = new Sqlite(file, { readonly: true })
const selectKey = sqlite.prepare('select id from api_keys where hash = ? and revoked_at is null').pluck()
const selectLatest = sqlite.prepare<
  [string, string, string],
  { rate_type: string; rate_date: string; value: string }
>(
  `select rate_type, rate_date, value from series
   join rates on series_id = series.id
     and rate_date = (select max(rate_date) from rates where series_id = series.id and rate_date <= ?)
   where base_currency = ? and quote_currency = ?
   order by rate_date desc`,
)

const text = { type: 'string' }
const side = { type: ['string', 'null'] }
const schema = {
  querystring: {
    type: 'object',
    properties: {
      base: { ...text, pattern: '^[A-Z]{3}$', default: 'USD' },
      quote: { ...text, pattern: '^[A-Z]{3}$', default: 'CRC' },
      on: { ...text, format: 'date' },
    },
  },
  response: {
    200: {
      type: 'object',
      properties: {
        provider: text,
        pair: text,
        rate_date: text,
        compra: side,
        venta: side,
        referencia: side,
      },
    },
  },
}

const app = fastify()
app.get<{ Querystring: { base: string; quote: string; on?: string } }>(
  '/api/v1/rates/latest',
  {
    schema,
    onRequest: async (request, reply) => {
      const hash = createHash('sha256').update(String(request.headers['x-api-key'])).digest('hex')
      if (!selectKey.get(hash)) return reply.code(401).send({ detail: 'Missing or invalid API key' })
    },
  },
  async ({ query: { base, quote, on } }, reply) => {
    const day = on ?? new Date(Date.now() - 6 * 3_600_000).toISOString().slice(0, 10)
    const sides = selectLatest.all(day, base, quote)
    const rate_date = sides[0]?.rate_date
    if (rate_date === undefined) return reply.code(404).send({ detail: 'No data' })
    const values: Record<string, string | null> = { compra: null, venta: null, referencia: null }
    for (const one of sides) if (one.rate_date === rate_date) values[one.rate_type] = one.value
    return { provider: 'bccr', pair: `${base}/${quote}`, rate_date, ...values }
  },
)
app.get('/', async () => ({}))
await app.listen({ port: Number(port), host: '127.0.0.1' })
