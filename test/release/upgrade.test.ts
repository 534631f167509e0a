// `upgrade` of an installed service in a root of Debian 12, under uploads, claims and syncs. The new program has a
// migration, or does not start; the upgrade is killed at random. No systemd runs there: see systemctl.sh.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { EXECUTABLE } from '../e2e/executable.ts'
import { figure } from '../faults/scale.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { freePort } from '../support/program.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { makeKeyPair, readSecretKey, signContent } from '../support/release/signing.ts'
import { SEED } from '../support/seed.ts'
import { until } from '../support/terminal.ts'
import { bankSettings, useService } from './client.ts'
import { buildNext, type NextBuild, ownVersion } from './packages.ts'
import { makeRoot, type Root } from './roots.ts'

const KILLS = Number(process.env.CAMBISTA_KILLS ?? 20)
const LONGEST_MS = 60_000
const LONGEST_DELAY_MS = 12_000 // a whole upgrade takes 6 to 11 s
const INSTALLED = '/usr/local/bin/cambista'
const RELEASE = 'tests/release'
const GENUINE = '/tests/genuine' // the program of the next release, behind a script
const STATE = [
  'usr/local/bin',
  'etc/cambista',
  'etc/systemd/system',
  'var/lib/cambista',
  'var/backups/cambista',
]
const pair = makeKeyPair()

let nextBuild: Promise<NextBuild> | undefined

type Created = { created_documents: { id: number }[] }
type Claimed = { documents: { id: number; claim_id: string }[] }
type Service = Awaited<ReturnType<typeof installedService>>

/** A root with the service of this build, its settings and these, and with the executable of the next. */
async function installedService(t: TestContext, settingsOfTest = '') {
  nextBuild ??= buildNext()
  const next = await nextBuild
  const root = await makeRoot(t, 'bookworm', ['systemd', 'libatomic1', 'bsdutils'])
  root.bootSystemd()
  copyFileSync(EXECUTABLE, root.at('tests/cambista'))
  const settings = await bankSettings(t)
  mkdirSync(root.at('etc/cambista'))
  writeFileSync(root.at('etc/cambista/cambista.env'), settings.text + settingsOfTest)
  await root.runOrFail('/tests/cambista', 'service', 'install')
  const client = await useService(root, settings.url)
  writeFileSync(root.at('tests/release.pub'), pair.publicKey)
  return { root, client, next, url: settings.url, closeBank: settings.closeBank }
}

/** Signs a release of one executable, for this machine kind or none. */
function makeRelease(root: Root, executable: Uint8Array, version: string): void {
  const folder = root.at(RELEASE)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  writeFileSync(join(folder, 'cambista'), executable, { mode: 0o755 })
  const sums = `${createHash('sha256').update(executable).digest('hex')}  cambista\n`
  writeFileSync(join(folder, 'SHA256SUMS'), sums)
  const comment = `cambista ${version}, commit ${'c'.repeat(40)}`
  const signature = signContent(readSecretKey(pair.secretKey), Buffer.from(sums), comment)
  writeFileSync(join(folder, 'SHA256SUMS.minisig'), signature)
}

const UPGRADE = [INSTALLED, 'upgrade', `/${RELEASE}/cambista`, '--key', '/tests/release.pub']

/** Uploads, claims and syncs until it is stopped. `verify` compares whatever was acknowledged with what the server has. */
function startWork(t: TestContext, { root, url, client: { headers, rates } }: Service) {
  const texts = new Map<number, string>()
  const [claimed, done] = [new Set<number>(), new Set<number>()]
  const days = new Set<string>()
  const statuses = new Map<string, number>()
  let hasEnded = false
  const post = async <T>(path: string, body: object, more: Record<string, string> = {}) => {
    const options = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
    const answer = await fetch(url + path, options).catch(() => undefined)
    const status = `${path.split('/').at(-1)} ${answer?.status ?? 'cut off'}`
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (answer?.status === 200) return (await answer.json().catch(() => undefined)) as T | undefined
    await answer?.body?.cancel()
    await wait(100)
    return undefined
  }
  const upload = async () => {
    for (let at = 0; !hasEnded; at++) {
      const text = `text ${at}`
      const base64 = Buffer.from(text).toString('base64')
      const document = { name: 'a.txt', mimetype: 'text/plain', base64 }
      const body = { owner_id: 1, company_id: 1, agent_id: 1, documents: [document] }
      const key = { 'idempotency-key': `${Date.now()} ${at}` }
      let answer: Created | undefined
      while (!answer && !hasEnded) answer = await post<Created>('/api/v1/documents/create', body, key)
      for (const { id } of answer?.created_documents ?? []) texts.set(id, text)
    }
  }
  const claim = async () => {
    while (!hasEnded) {
      const order = { agent_id: 1, limit: 1, lease_seconds: 3600 }
      const answer = await post<Claimed>('/api/v1/documents/claim', order)
      for (const { id, claim_id } of answer?.documents ?? []) {
        claimed.add(id)
        const outcome = { claim_id, outcome: 'done' }
        if (await post(`/api/v1/documents/${id}/finish`, outcome)) done.add(id)
      }
      await wait(20)
    }
  }
  const sync = async () => {
    for (let day = 1; !hasEnded; day++) {
      const date = new Date(Date.UTC(2025, 0, day)).toISOString().slice(0, 10)
      const { code } = await root.run('cambista', 'sync', '--from', date, '--to', date)
      if (code === 0) days.add(date)
      await wait(500)
    }
  }
  const work = Promise.all([upload(), claim(), sync()])
  const stop = async () => {
    hasEnded = true
    await work
  }
  t.after(stop)
  return {
    statuses,
    stop,
    async verify() {
      for (const [id, text] of texts) {
        const answer = await fetch(`${url}/api/v1/documents/${id}/content`, { headers })
        assert.deepEqual([answer.status, await answer.text()], [200, text], `document ${id}`)
      }
      for (const id of claimed) {
        const answer = await fetch(`${url}/api/v1/documents/${id}`, { headers })
        const { state } = (await answer.json()) as { state: string }
        assert.ok(done.has(id) ? state === 'done' : state !== 'new', `document ${id} is ${state}`)
      }
      for (const day of days) {
        const answer = await fetch(`${url}/api/v1/rates?on=${day}`, rates)
        assert.equal(answer.status, 200, `rates of ${day}: ${await answer.text()}`)
      }
      return { uploads: texts.size, claims: claimed.size, outcomes: done.size, days: days.size }
    },
  }
}

/** Returns the version of the server that started last, which must answer. */
async function findVersion(service: Service): Promise<string> {
  assert.ok(await isReady(service))
  return [...service.root.log().matchAll(/ listening .*version=(\S+)/g)].at(-1)?.[1] ?? assert.fail()
}

const isReady = async (service: Service) =>
  (await fetch(`${service.url}/readyz`).catch(() => undefined))?.status === 200

test('`upgrade` goes forward under load, with a migration; `--back --lose-since` returns to the copy', async (t) => {
  const service = await installedService(t)
  const { root, next, client } = service
  makeRelease(root, readFileSync(next.executable), next.version)
  const work = startWork(t, service)
  const started = performance.now()
  const text = await root.runOrFail(...UPGRADE)
  t.diagnostic(`upgraded in ${Math.round(performance.now() - started)} ms`)
  t.diagnostic(text.trim().replaceAll('\n', ' | '))
  assert.match(
    text,
    /^the database is migrated from schema \d+ to \d+; before, its [\d.]+ MB are copied, in about \d+ s$/m,
  )
  assert.match(
    text,
    /on probation after an upgrade, it only reads: it has read rates up to 20\d\d-\d\d-\d\d and document \d+$/m,
  )
  assert.match(text, new RegExp(`^cambista ${next.version} is confirmed, and writes$`, 'm'))
  await wait(1000)
  await work.stop()
  t.diagnostic(`answers: ${JSON.stringify(Object.fromEntries(work.statuses))}`)
  t.diagnostic(JSON.stringify(await work.verify()))
  assert.equal(await findVersion(service), next.version)
  assert.deepEqual(await client.look(), client.expected)
  const refused = await root.run(INSTALLED, 'upgrade', '--back')
  assert.match(
    refused.text,
    /cannot read the database, whose schema is \d+ since the upgrade: sudo cambista upgrade --back --lose-since/,
  )
  assert.match((await root.run(...UPGRADE)).text, /^nothing to do: cambista /m)

  assert.match(await answerQuestion(root, '--back --lose-since', 'y'), /^nothing was changed/m)
  assert.equal(await findVersion(service), next.version)
  const back = await answerQuestion(root, '--back --lose-since', 'yes')
  t.diagnostic(back.trim().replaceAll(/\r?\n/g, ' | '))
  assert.match(back, /\.bak lacks \d+ documents, \d+ claims, 0 corrections of rates and 0 keys and tokens/)
  assert.equal(await findVersion(service), ownVersion())
  assert.deepEqual(await client.look(), client.expected)
  await client.upload(service.url)
  const files = () => readdirSync(root.at('var/lib/cambista'))
  const isLater = (name: string) => name.endsWith('.later')
  assert.ok(files().some(isLater) && existsSync(root.at('var/lib/cambista/blobs/held')))
  assert.match(await answerQuestion(root, '--forget', 'yes'), /^removed cambista\.db\.v\d+-.*\.later$/m)
  assert.ok(!files().some(isLater) && !existsSync(root.at('var/lib/cambista/blobs/held')))
})

test('`upgrade` goes forward while the bank is away', async (t) => {
  const service = await installedService(t)
  const { root, next, client } = service
  makeRelease(root, readFileSync(next.executable), next.version)
  await service.closeBank()
  assert.notEqual((await root.run('cambista', 'sync', '--from', '2025-01-02', '--to', '2025-01-02')).code, 0)
  const text = await root.runOrFail(...UPGRADE)
  assert.match(text, new RegExp(`^cambista ${next.version} is confirmed, and writes$`, 'm'))
  assert.equal(await findVersion(service), next.version)
  assert.deepEqual(await client.look(), client.expected)
  await client.upload(service.url)
})

test('`upgrade` over a shared PostgreSQL waits for the migration, and goes back without it', async (t) => {
  const port = await freePort()
  const postgres = await startPostgres(['listen_addresses=127.0.0.1', `port=${port}`])
  t.after(() => postgres.close())
  const database = `CAMBISTA_DATABASE="postgres://cambista@127.0.0.1:${port}/postgres"`
  const contents = 'CAMBISTA_BLOBS="/var/lib/cambista/contents"\nCAMBISTA_BLOBS_SHARED=1\n'
  const service = await installedService(t, `${database}\n${contents}`)
  const { root, next, client } = service
  const genuine = readFileSync(next.executable)
  makeRelease(root, genuine, next.version)
  const work = startWork(t, service)

  const early = await root.run(...UPGRADE)
  assert.equal(early.code, 1, early.text)
  assert.match(early.text, /^schema \d+ of the nodes' database becomes \d+$/m)
  assert.match(early.text, /run \/tests\/release\/cambista database upgrade before$/m)
  assert.equal(await findVersion(service), ownVersion())

  await root.runOrFail(`/${RELEASE}/cambista`, 'database', 'upgrade')
  assert.equal(await findVersion(service), ownVersion())
  await client.upload(service.url)

  writeFileSync(root.at(GENUINE), genuine, { mode: 0o755 })
  makeRelease(root, programThat('exit 1'), next.version)
  const failure = await root.run(...UPGRADE)
  assert.equal(failure.code, 1, failure.text)
  assert.match(failure.text, /cambista [\d.]+ is put back, and answers; nothing is lost/)
  assert.equal(await findVersion(service), ownVersion())

  makeRelease(root, genuine, next.version)
  const text = await root.runOrFail(...UPGRADE)
  t.diagnostic(text.trim().replaceAll('\n', ' | '))
  assert.match(text, /^the nodes' database has schema \d+ already$/m)
  assert.match(text, new RegExp(`^cambista ${next.version} is confirmed, and writes$`, 'm'))
  assert.equal(await findVersion(service), next.version)

  const back = await root.runOrFail(INSTALLED, 'upgrade', '--back')
  assert.match(back, new RegExp(`^cambista ${ownVersion()} is back; `, 'm'))
  assert.equal(await findVersion(service), ownVersion())
  await wait(1000)
  await work.stop()
  t.diagnostic(`answers: ${JSON.stringify(Object.fromEntries(work.statuses))}`)
  t.diagnostic(JSON.stringify(await work.verify()))
  assert.deepEqual(await client.look(), client.expected)
  await client.upload(service.url)
})

/** Runs `upgrade` at a terminal, and answers its question. Returns the output. */
async function answerQuestion(root: Root, options: string, answer: string): Promise<string> {
  const command = `(sleep 20; echo ${answer}) | script -qec '${INSTALLED} upgrade ${options}' /dev/null`
  const { text } = await root.run('sh', '-c', command)
  return text.replaceAll('\r', '')
}

test(`\`upgrade\` that is killed at random leaves one version that answers, with all data (${KILLS} times)`, async (t) => {
  const service = await installedService(t)
  const { root, next } = service
  makeRelease(root, readFileSync(next.executable), next.version)
  const ends = new Map<string, number>()
  const random = createRandom(SEED)
  figure(t, 'seed', SEED)
  await saveState(root)
  for (let kill = 0; kill < KILLS; kill++) {
    const work = startWork(t, service)
    await wait(300)
    const upgrade = root.start(...UPGRADE)
    const delay = random.next() * LONGEST_DELAY_MS
    await Promise.race([wait(delay), once(upgrade, 'exit')])
    const isKilled = upgrade.kill('SIGKILL')
    await wait(random.next() * 300)
    await root.run('systemctl', 'restart', 'cambista.service')
    await until(() => isReady(service), LONGEST_MS)
    const version = await findVersion(service)
    await work.stop()
    const counts = await work.verify()
    // The next call settles what the killed one has left, and ends.
    const again = await root.run(...UPGRADE)
    assert.equal(
      again.code,
      0,
      `killed after ${Math.round(delay)} ms, then: ${again.text}${root.log().slice(-2000)}`,
    )
    assert.equal(await findVersion(service), next.version)
    await work.verify()
    const end = `${isKilled ? 'killed' : 'ended'}, then ${version}`
    ends.set(end, (ends.get(end) ?? 0) + 1)
    t.diagnostic(`after ${Math.round(delay)} ms: ${end}; ${JSON.stringify(counts)}`)
    await putStateBack(root)
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(ends)))
})

const FAILURES = {
  'does not start': 'exit 1',
  'is refused by its settings': 'exit 2',
  'is killed when it starts': 'kill -9 $$',
  'is killed after its migration': `${GENUINE} "$@" & until ls /var/lib/cambista/*.bak; do sleep 0.05; done; sleep 0.1; kill -9 $!; exit 1`,
  'is never ready': 'exec sleep 1000',
}

/** Returns a program that runs a command as a server, and is the genuine one else. */
function programThat(command: string): Buffer {
  // The genuine program would install itself, and not this script.
  const install = `cp "$0" ${INSTALLED}.new && chmod 755 ${INSTALLED}.new && mv ${INSTALLED}.new ${INSTALLED} && systemctl restart cambista.service`
  const cases = `serve) ${command} ;; service) ${install} ;; *) exec ${GENUINE} "$@" ;;`
  return Buffer.from(`#!/bin/sh\ncase "$1" in ${cases} esac\n`)
}

for (const [name, command] of Object.entries(FAILURES)) {
  test(`a new program that ${name} goes back by itself`, async (t) => {
    const service = await installedService(t)
    const { root, next, client } = service
    copyFileSync(next.executable, root.at(GENUINE))
    makeRelease(root, programThat(command), next.version)
    const work = startWork(t, service)
    const { code, text } = await root.run(...UPGRADE)
    t.diagnostic(text.trim().split('\n').at(-1) ?? '')
    assert.equal(code, 1, text)
    assert.doesNotMatch(root.log(), /Permission denied|not found/)
    assert.match(text, /cambista [\d.]+ is put back, and answers; nothing is lost/)
    await wait(1000)
    await work.stop()
    await work.verify()
    assert.equal(await findVersion(service), ownVersion())
    assert.deepEqual(await client.look(), client.expected)
  })
}

/** Copies the state of the stopped service. */
async function saveState(root: Root): Promise<void> {
  await root.run('systemctl', 'stop', 'cambista.service')
  for (const path of STATE) {
    mkdirSync(join(root.at(`tests/saved/${path}`), '..'), { recursive: true })
    await root.runOrFail('cp', '-a', `/${path}`, `/tests/saved/${path}`)
  }
  await root.runOrFail('systemctl', 'start', 'cambista.service')
}

async function putStateBack(root: Root): Promise<void> {
  await root.run('systemctl', 'stop', 'cambista.service')
  for (const path of STATE) {
    rmSync(root.at(path), { recursive: true })
    await root.runOrFail('cp', '-a', `/tests/saved/${path}`, `/${path}`)
  }
  await root.runOrFail('systemctl', 'start', 'cambista.service')
}
