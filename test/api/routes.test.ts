// Each line of the list of routes is mounted. The compiler checks that each endpoint has a line.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../src/http/routes.ts'
import { startTestApp } from '../support/app.ts'
import { until } from '../support/terminal.ts'
import { readAllPaths } from './openapi/description.ts'
import { send } from './support.ts'

/** Open and other routes that answer a client without credentials. */
const ANSWER_STRANGERS = ['open', 'local', 'any-key']
/** Without a description: files of the page, the descriptions themselves, and metrics. */
const UNDESCRIBED = [
  ...['GET /', 'GET /docs', 'GET /docs/es', 'GET /docs/reference', 'GET /docs/es/reference'],
  ...['GET /page/{file}', 'GET /metrics', 'GET /openapi.json', 'GET /openapi-compat.json'],
]

test('each line of the list of routes is mounted, and checks its permission', async (t) => {
  const compat = { open: undefined, serveRounded: false }
  const { app, logLines } = await startTestApp(t, { listen: { compat, metrics: 'local' } })
  const loggedRoute = async (id: string) => {
    const findLine = () => logLines.join('').match(new RegExp(`^.*"event":"request".*"id":"${id}".*$`, 'm'))
    await until(() => findLine() !== null)
    return (JSON.parse(findLine()?.[0] ?? '') as { route: string }).route
  }
  for (const [at, [line, [permission]]] of Object.entries(ROUTES).entries()) {
    const [method = '', path = ''] = line.split(' ')
    const headers = { 'x-request-id': `line-${at}` }
    const { status } = await send(app.url + path.replace(/\{\w+\}/g, '1'), { method, headers })
    assert.equal(await loggedRoute(`line-${at}`), path)
    assert.notEqual(status, 405, line)
    if (!ANSWER_STRANGERS.includes(permission)) assert.equal(status, 401, line)
  }
  await send(`${app.url}/api/v1/nothing`, { headers: { 'x-request-id': 'no-line' } })
  assert.equal(await loggedRoute('no-line'), '-')
})

test('each operation of the descriptions has a line in the list of routes, and each line its operation', async (t) => {
  const { app } = await startTestApp(t, { listen: { compat: { open: undefined, serveRounded: false } } })
  const { paths } = await readAllPaths(app.url)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, security }]) => [
      `${method.toUpperCase()} ${path}`,
      security.length === 0,
      summary,
    ]),
  )
  const lines = Object.entries(ROUTES)
    .filter(([line]) => !UNDESCRIBED.includes(line))
    .map(([line, [permission, purpose]]) => [line, permission === 'open', purpose])
  assert.deepEqual(operations.sort(), lines.sort())
})
