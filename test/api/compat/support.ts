// An app whose compat APIs are open to everybody, with the rates of some months.

import assert from 'node:assert/strict'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { openApp } from '../support.ts'

export { startTestApp, type TestApp }

export const TODAY = '2026-03-24'

/** A synchronized app for a whole file. */
export async function openShapes(options: TestAppOptions = {}): Promise<TestApp> {
  const compat = { open: 'any', serveRounded: false } as const
  const app = await openApp({ ...options, listen: { compat, ...options.listen } })
  await app.sync()
  return app
}

/** Status and body of a GET without a key. */
export async function ask(app: TestApp, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(app.app.url + path, { headers })
  return [response.status, await response.text()] as const
}

/** The parsed JSON of a 200. */
export async function readJson<T = Record<string, unknown>>(app: TestApp, path: string): Promise<T> {
  const [status, body] = await ask(app, path)
  assert.equal(status, 200, `${path}: ${body}`)
  return JSON.parse(body) as T
}

/** The value of one unit by /convert, as its text. */
export async function convertUnit(
  app: TestApp,
  from: string,
  to: string,
  side: string,
  on: string,
): Promise<string> {
  const query = new URLSearchParams({ amount: '1', from, to, type: side, on })
  return (await app.json<{ rate: string }>(`/api/v1/convert?${query}`)).rate
}

/** The literal digits of a number after `text` in a JSON text. */
export function printedNumber(body: string, text: string): string | undefined {
  const start = body.indexOf(text)
  return start < 0 ? undefined : /^[-\d.eE+]+/.exec(body.slice(start + text.length))?.[0]
}
