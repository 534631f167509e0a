// Optional sources with faults of their peers: an incomplete chain, no value in any column, too many requests. The message
// of each failure names the source.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { banguat } from '../../../src/providers/banguat/banguat.ts'
import { banxico } from '../../../src/providers/banxico/banxico.ts'
import { ecb } from '../../../src/providers/ecb/ecb.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { trm } from '../../../src/providers/trm/trm.ts'
import { type Manner, startFaultySource } from '../../contract/faulty-source.ts'
import { makeChain } from '../../support/sources/certificate-chain.ts'

const WINDOW = { from: '2026-03-02', to: '2026-03-06' }
const ECB_HEAD = 'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE\r\n'
const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/'
const soapAnswer = (rows: string, total: number) =>
  `<soap:Envelope xmlns:soap="${SOAP}"><soap:Body><TipoCambioRangoResponse xmlns="http://www.banguat.gob.gt/variables/ws/">` +
  `<TipoCambioRangoResult><Vars>${rows}</Vars><TotalItems>${total}</TotalItems></TipoCambioRangoResult>` +
  '</TipoCambioRangoResponse></soap:Body></soap:Envelope>'
const sie = (dato: string) =>
  JSON.stringify({
    bmx: {
      series: banxico.catalogue.map(({ externalCode: idSerie, name: titulo }) => ({
        ...{ idSerie, titulo, datos: [{ fecha: '02/03/2026', dato }] },
      })),
    },
  })
const range = (valor: string) =>
  JSON.stringify([
    {
      ...{ valor, unidad: 'COP' },
      ...{ vigenciadesde: '2026-03-03T00:00:00.000', vigenciahasta: '2026-03-06T00:00:00.000' },
    },
  ])

/** Each source with an answer that has no value in any column. */
const SOURCES: [provider: Provider, missing: string][] = [
  [
    ecb,
    `${ECB_HEAD}EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-03-03,\r\nEXR.D.JPY.EUR.SP00.A,D,JPY,EUR,SP00,A,2026-03-03,NaN\r\n`,
  ],
  [
    banguat,
    soapAnswer(
      '<Var><moneda>2</moneda><fecha>03/03/2026</fecha><venta></venta><compra>n.d.</compra></Var>',
      1,
    ),
  ],
  [trm, range('N/A')],
  [banxico, sie('N/E')],
]

function connect(provider: Provider, url: string) {
  const settings = { url, token: 'a'.repeat(64), paceMs: 0, userAgent: 'cambista/test' }
  const connection = provider.connect(settings, new AbortController().signal, {
    sleep: async () => undefined,
  })
  const [group] = provider.groups
  const ask = { table: group?.table ?? '', indicator: group?.indicators?.[0], window: WINDOW }
  return { connection, read: () => connection.read(ask) }
}

async function open(t: TestContext, provider: Provider, manner: Manner) {
  const source = await startFaultySource(t, manner)
  return { source, ...connect(provider, source.url) }
}

for (const [provider, missing] of SOURCES) {
  const { code } = provider
  const name = provider === trm ? 'TRM' : code

  test(`${code}: an answer without a value in any column is an answer without values`, async (t) => {
    const { read, connection } = await open(t, provider, { body: missing })
    assert.deepEqual((await read()).observations, [])
    assert.deepEqual(connection.notices(), [])
  })

  test(`${code}: HTTP 429 is retried three times, and its failure names the source`, async (t) => {
    const { read, source } = await open(t, provider, { status: 429, body: 'too many requests' })
    await assert.rejects(read(), new RegExp(`^FetchFailure: ${name}: HTTP 429`))
    assert.equal(source.seen.length, 4)
  })

  test(`${code}: an HTML page in a 200 is a failure that names the source`, async (t) => {
    const { read } = await open(t, provider, { body: '<html><body>portal of the network</body></html>' })
    await assert.rejects(read(), new RegExp(`^FetchFailure: ${name}: .*portal of the network`))
  })
}

test('each source names a chain without the intermediate certificate', async (t) => {
  const chain = makeChain(t)
  tls.setDefaultCACertificates([chain.root])
  t.after(() => tls.setDefaultCACertificates(tls.getCACertificates('bundled')))
  let requests = 0
  const server = createServer({ key: chain.key, cert: chain.leaf }, (_request, response) => {
    requests += 1
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const [provider] of SOURCES) {
    const name = provider === trm ? 'TRM' : provider.code
    const words = `^FetchFailure: ${name}: the chain of its certificate is incomplete: .*UNABLE_TO_VERIFY_LEAF_SIGNATURE`
    await assert.rejects(connect(provider, url).read(), new RegExp(words))
  }
  assert.equal(requests, 0)
})
