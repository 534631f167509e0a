// Refusals that other central banks introduced in 2026, over real sockets. The message of a run names each.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { type BankOptions, type Refusals, startBank } from '../../../src/demo/bank.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { selectDescribedRuns } from '../../../src/store/rates/sync-runs.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'
import { makeChain } from '../../support/sources/certificate-chain.ts'

/** Runs a sync with a fake bank; returns status, message and the number of requests. */
async function runSync(t: TestContext, options: Partial<BankOptions>) {
  const desk = await openDesk(t, { catalogue: bccrCatalogue })
  const bank = await startBank({ token: 'token', today: desk.clock.today, ...options })
  t.after(() => bank.close())
  desk.bank.provider = {
    ...desk.bank.provider,
    connect: (settings, signal) => bccr.connect(settings, signal, { sleep: async () => {} }),
  }
  desk.deps.settings = () => ({ url: bank.url, token: 'token', paceMs: 0, userAgent: 'cambista/test' })
  const { status, message } = await desk.sync()
  const [run] = await selectDescribedRuns(desk.db, 1)
  return { status, message: message ?? '', requests: bank.requests.length, failures: run?.failures }
}

const refusals: [title: string, refusals: Refusals, message: RegExp | undefined][] = [
  ['406 for requests without Accept', { withoutAccept: true }, undefined],
  [
    '403 for an unknown User-Agent',
    { userAgents: /^Mozilla/ },
    /317: the website of the bank gave no token \(CSRF\): HTTP 403: Forbidden \(it refuses the User-Agent "cambista\/test", this address or the credentials\)/,
  ],
  [
    'a redirect to another host',
    { redirectUrl: 'https://sdde.example/api' },
    /317: HTTP 302, a redirect to another host, "https:\/\/sdde\.example\/api", which is never followed/,
  ],
]
for (const [title, refusals_, message] of refusals) {
  test(`the message of a run describes ${title}`, async (t) => {
    const run = await runSync(t, { refusals: refusals_ })
    if (message) assert.match(run.message, message)
    else assert.deepEqual([run.status, run.message], ['ok', ''])
  })
}

test('the message of a run describes a chain without the intermediate certificate', async (t) => {
  const chain = makeChain(t)
  tls.setDefaultCACertificates([chain.root])
  t.after(() => tls.setDefaultCACertificates(tls.getCACertificates('bundled')))
  const whole = await runSync(t, { tls: { key: chain.key, cert: chain.leaf + chain.intermediate } })
  assert.deepEqual([whole.status, whole.message], ['ok', ''])
  const { message, requests, failures } = await runSync(t, { tls: { key: chain.key, cert: chain.leaf } })
  assert.deepEqual(failures?.[0], { code: 'tls', host: '127.0.0.1', of: '317' })
  assert.match(
    message,
    /317: the chain of its certificate is incomplete: it does not send the intermediate certificate, .*\(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/,
  )
  assert.equal(requests, 0)
  tls.setDefaultCACertificates(tls.getCACertificates('bundled'))
  const unknown = await runSync(t, { tls: { key: chain.key, cert: chain.leaf + chain.intermediate } })
  assert.match(unknown.message, /this machine does not know the authority/)
})
