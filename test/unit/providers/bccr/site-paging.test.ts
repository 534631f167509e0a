import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BankFault, BankRequest } from '../../../../src/demo/bank.ts'
import { inventedValue } from '../../../../src/demo/invented-rates.ts'
import { FetchFailure } from '../../../../src/providers/provider.ts'
import { ask, converse, requestedPaths, week } from '../support.ts'

const isPage = ({ path }: BankRequest) => path.endsWith('ObtenerDatosCuadro')

test('site reader caches a table for its second indicator', async (t) => {
  const { bank, connection } = await converse(t, { ours: undefined })
  const answers = [
    await connection.read(ask('1', '317', '2025-09-20', '2026-09-20')),
    await connection.read(ask('1', '318', '2025-09-20', '2026-09-20')),
  ]
  assert.equal(bank.requests.filter(isPage).length, 4)
  answers.forEach(({ listed, observations }, index) => {
    const code = ['317', '318'][index] ?? ''
    assert.deepEqual(
      listed.map((series) => series.code),
      [code],
    )
    assert.equal(observations.length, 366)
    for (const row of observations) assert.equal(Number(row.value), Number(inventedValue(code, row.day)))
  })
  await connection.read(ask('1', undefined, '2024-01-01', '2024-12-31'))
  await connection.read(ask('1', undefined, '2026-09-14', '2026-09-20'))
  assert.equal(bank.requests.filter(isPage).length, 9, 'pages of long ago are forgotten')
})

test('site reader stops at an empty page before the first day of the bank', async (t) => {
  const { bank, connection } = await converse(t, { ours: undefined })
  const { observations } = await connection.read(ask('1', '317', '1982-01-01', '1983-02-28'))
  assert.equal(observations[0]?.day, '1983-01-01')
  assert.equal(bank.requests.filter(isPage).length, 3, 'the empty page was requested twice')
})

for (const omitted of ['all days', 'the series 318'] as const) {
  test(`site reader requests a page again that omits ${omitted}`, async (t) => {
    let pages = 0
    const harmed = async (request: BankRequest): Promise<BankFault> => {
      if (!isPage(request) || ++pages !== 3) return 'pass'
      if (omitted === 'all days')
        return { status: 200, body: '{"columnas":[{"field":"nombre"}],"indicadoresRaiz":[]}' }
      return { status: 200, body: await pageWithout318(bank.url, request) }
    }
    const { bank, connection } = await converse(t, { ours: undefined, faults: harmed })
    for (const code of ['317', '318']) {
      const { observations } = await connection.read(ask('1', code, '2025-09-20', '2026-09-20'))
      assert.equal(observations.length, 366, code)
    }
    assert.equal(pages, omitted === 'all days' ? 5 : 6, 'with the request of pageWithout318')
  })
}

test('site reader takes a series for absent that a page omits twice', async (t) => {
  const body = (codes: number[], day: string) => {
    const roots = codes.map((idIndicador) => ({ idIndicador, series: { serie1Ingles: '5' } }))
    const columnas = [{ field: 'serie1', tituloIngles: day }]
    return JSON.stringify({ columnas, indicadoresRaiz: roots })
  }
  const { bank, connection } = await converse(t, {
    ours: undefined,
    faults: (request: BankRequest): BankFault => {
      if (!isPage(request)) return 'pass'
      const isNewest = request.query.FechaFin === '2026-09-20'
      return { status: 200, body: isNewest ? body([317, 318], '20 sep 2026') : body([317], '1 sep 2026') }
    },
  })
  const { listed, observations } = await connection.read(ask('1', undefined, '2026-09-01', '2026-09-20'))
  assert.deepEqual(
    listed.map(({ code }) => code),
    ['317', '318'],
  )
  assert.deepEqual(
    observations.map(({ code, day }) => `${code} ${day}`),
    ['317 2026-09-01', '317 2026-09-20', '318 2026-09-20'],
  )
  assert.equal(bank.requests.filter(isPage).length, 3)
})

test('site reader removes group marks of thousands', async (t) => {
  const { connection } = await converse(t, { ours: undefined, value: () => '26345.678' })
  const { observations } = await connection.read(ask('520', undefined, '2026-09-18', '2026-09-18'))
  assert.deepEqual(observations[0], { code: '21264', day: '2026-09-18', value: '26345.68', roundedTo: 2 })
})

test('site reader rejects pages that do not go back', async (t) => {
  const body = `{"columnas":[{"field":"serie1","tituloIngles":"20 sep 2026"}],"indicadoresRaiz":[]}`
  const { bank, connection } = await converse(t, { ours: undefined, faults: stuck })
  await assert.rejects(connection.read(week()), (error) => {
    return (
      error instanceof FetchFailure &&
      /^the website of the bank, table 1: .*2026-09-19.*2026-09-20/.test(error.message)
    )
  })
  assert.equal(bank.requests.length, 3)

  function stuck(request: BankRequest): BankFault {
    return isPage(request) ? { status: 200, body } : 'pass'
  }
})

test('site reader returns days after the window of the first page, and drops earlier ones', async (t) => {
  const { connection } = await converse(t, { ours: undefined, faults: shifted })
  const { observations } = await connection.read(ask('1', '317', '2026-09-19', '2026-09-20'))
  assert.deepEqual(
    observations.map(({ day }) => day),
    ['2026-09-20', '2026-09-25'],
  )

  function shifted(request: BankRequest): BankFault {
    const series = '{"serie1Ingles":"1","serie2Ingles":"2","serie3Ingles":"3"}'
    const columns = ['18 sep 2026', '20 sep 2026', '25 sep 2026'].map(
      (title, index) => `{"field":"serie${index + 1}","tituloIngles":"${title}"}`,
    )
    const body = `{"columnas":[${columns}],"indicadoresRaiz":[{"idIndicador":317,"series":${series}}]}`
    return isPage(request) ? { status: 200, body } : 'pass'
  }
})

test('site reader renews the CSRF token once', async (t) => {
  const statuses = [401]
  const refuse = (request: BankRequest): BankFault => {
    const status = isPage(request) ? statuses.shift() : undefined
    return status === undefined ? 'pass' : { status, body: 'x' }
  }
  const { bank, connection } = await converse(t, { ours: undefined, faults: refuse })
  await connection.read(week())
  assert.deepEqual(
    requestedPaths(bank).map((path) => path.split('/')[0]),
    ['Token', 'CuadroGrupoVariables', 'Token', 'CuadroGrupoVariables'],
  )
  statuses.push(403, 403)
  await assert.rejects(
    connection.read(ask('1', '317', '2026-01-01', '2026-01-02')),
    /the website of the bank, table 1: HTTP 403: x/,
  )
  assert.equal(bank.requests.length, 7)
  statuses.push(404)
  await assert.rejects(
    connection.read(ask('1', '317', '2025-01-01', '2025-01-02')),
    /the website of the bank, table 1: HTTP 404: x/,
  )
  assert.equal(bank.requests.length, 8, 'a table that is not there needs no other token')
})

test('site reader uses a CSRF token for an hour', async (t) => {
  const { bank, connection } = await converse(t, { ours: undefined })
  let now = 1000
  t.mock.method(performance, 'now', () => now)
  const signOns = async (at: number, year: number) => {
    now = at
    await connection.read(ask('1', '317', `${year}-01-01`, `${year}-01-02`))
    return requestedPaths(bank).filter((path) => path === 'Token/GenereCSRF').length
  }
  assert.equal(await signOns(1000, 2001), 1)
  assert.equal(await signOns(1000 + 3_599_000, 2002), 1)
  assert.equal(await signOns(1000 + 3_600_000, 2003), 2)
})

test('site reader names the sign-on in its failure', async (t) => {
  const { connection } = await converse(t, {
    ours: undefined,
    faults: () => ({ status: 200, body: '<html>x' }),
  })
  await assert.rejects(
    connection.read(week()),
    /^FetchFailure: the website of the bank gave no token \(CSRF\): .*not a CSRF token: <html>x/,
  )
})

test('site reader masks an echoed CSRF token', async (t) => {
  const csrf = 'anonymous-csrf-token'
  const faults = (request: BankRequest): BankFault =>
    isPage(request) ? { status: 400, body: `bad ${csrf}` } : { status: 200, body: `"${csrf}"` }
  const { connection } = await converse(t, { ours: undefined, faults })
  await assert.rejects(
    connection.read(week()),
    /^FetchFailure: the website of the bank, table 1: HTTP 400: bad \*\*\*$/,
  )
})

async function pageWithout318(url: string, { path, query }: BankRequest): Promise<string> {
  const signOn = '/Bccr.GE.SDDE.IndicadoresSitioExterno.ServiciosUsuario.API/Token/GenereCSRF'
  const token_csrf = await (await fetch(url + signOn)).text()
  const page = new URL(`${path}?${new URLSearchParams(query)}`, url)
  const answer = await fetch(page, { headers: { token_csrf, origin: 'https://sdd.bccr.fi.cr' } })
  const { indicadoresRaiz, ...rest } = (await answer.json()) as { indicadoresRaiz: { idIndicador: number }[] }
  const roots = indicadoresRaiz.filter(({ idIndicador }) => idIndicador !== 318)
  assert.equal(roots.length, indicadoresRaiz.length - 1)
  return JSON.stringify({ ...rest, indicadoresRaiz: roots })
}
