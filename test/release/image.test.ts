// Runs the image of each machine kind as a container, and reads it with other tools. `npm run test:release` names the
// release.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { currentDay } from '../../src/values/dates.ts'
import { directory } from '../e2e/executable.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { freePort } from '../support/program.ts'
import { type Container, makeVolume, startContainer, unpackImage } from './container.ts'

const { CAMBISTA_RELEASE: release = '', CAMBISTA_FOREIGN_ARCH: foreignArch = '' } = process.env
const [name = ''] = existsSync(release)
  ? readdirSync(release).filter((file) => file.endsWith('.oci.tar'))
  : []
if (!name || !foreignArch) throw new Error('CAMBISTA_RELEASE is not set: use npm run test:release')
const ARCHIVE = join(release, name)
const USER = 65532
const MACHINES_FILE: string = new URL('../../src/packaging/machines.mjs', import.meta.url).href
const { MACHINES, runnerWords }: Machines = await import(MACHINES_FILE)
type Machines = {
  MACHINES: Record<string, { debian: string }>
  runnerWords(arch: string): string[] | undefined
}
const ENDS_WITHIN_SECONDS = 10
const DATABASE_HOST = '127.65.53.2' // where no other server of this machine listens
const CONTENT = Buffer.from('Factura 1: 15000 CRC\n')

for (const arch of Object.keys(MACHINES)) {
  const how = arch === foreignArch ? ', under qemu' : ''
  test(`the ${arch} image answers a rate and takes an upload on a read-only root${how}`, async (t) => {
    const image = unpackImage(t, ARCHIVE, architectureName(arch))
    const emulator = arch === foreignArch ? emulatorPath(arch) : undefined
    const volume = makeVolume(t, image)
    const bank = await startBank({ today: () => currentDay(() => new Date()) })
    t.after(() => bank.close())
    const env = { CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0' }
    const words = ['serve', '--no-scheduler', '--port', '0']
    const container = startContainer(t, image, { volume, words, env, emulator })
    const url = await listeningUrl(container)
    assertUnprivileged(container)

    await printed(container, ['sync', '--from', '2026-01-05', '--to', '2026-01-16'])
    const key = await printed(container, ['key', 'create', 'erp'])
    const latest = await fetch(`${url}/api/v1/rates/latest?on=2026-01-16`, { headers: { 'x-api-key': key } })
    const rates = await latest.json()
    assert.equal(latest.status, 200, JSON.stringify(rates))
    t.diagnostic(JSON.stringify(rates).slice(0, 200))
    await uploadAndFetch(container, url)

    assert.equal(await printed(container, ['healthcheck']), `${url} is ready`)
    const idle = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    t.after(() => idle.destroy())
    const { seconds, code, err } = await container.stop()
    assert.equal(code, 0, err)
    assert.ok(seconds < ENDS_WITHIN_SECONDS, `${seconds} s`)
    t.diagnostic(`ended ${seconds.toFixed(1)} s after SIGTERM`)
    assert.deepEqual(readdirSync(volume), ['cambista'], 'SQLite is loaded from a file, which is removed')
    const files = readdirSync(join(volume, 'cambista'))
    assert.ok(files.includes('cambista.db'))
    for (const path of files) assert.equal(statSync(join(volume, 'cambista', path)).uid, USER, path)
  })
}

test('the image starts by its own command, on port 8080, on a volume of Kubernetes with fsGroup', async (t) => {
  const image = unpackImage(t, ARCHIVE, ownArchitecture())
  const volume = makeVolume(t, image, { fsGroup: USER })
  // The container has a network of its own, as in an engine: no bank answers, and port 8080 is free.
  const container = startContainer(t, image, { volume, ownNetwork: true })
  await container.says(/ listening url=http:\/\/0\.0\.0\.0:8080 /)
  assert.equal(await printed(container, ['healthcheck']), 'http://127.0.0.1:8080 is ready')
  const { seconds, code, err } = await container.stop()
  assert.equal(code, 0, err)
  assert.ok(seconds < ENDS_WITHIN_SECONDS, `${seconds} s in the middle of a sync`)
})

test('a node runs in the image over PostgreSQL and a shared folder, and is found by its variables', async (t) => {
  const server = await startPostgres([`listen_addresses=${DATABASE_HOST}`])
  t.after(() => server.close())
  const image = unpackImage(t, ARCHIVE, ownArchitecture())
  const volume = makeVolume(t, image)
  const port = String(await freePort())
  const env = {
    CAMBISTA_DATABASE: `postgres://cambista@${DATABASE_HOST}/postgres?sslmode=disable`,
    CAMBISTA_BLOBS: '/data',
    CAMBISTA_BLOBS_SHARED: '1',
    CAMBISTA_PORT: port,
  }
  const words = ['serve', '--no-scheduler']
  const container = startContainer(t, image, { volume, words, env })
  const url = await listeningUrl(container)
  await uploadAndFetch(container, url)
  assert.equal(await printed(container, ['healthcheck']), `http://127.0.0.1:${port} is ready`)
  const { code, err } = await container.stop()
  assert.equal(code, 0, err)
  assert.equal(readdirSync(volume).includes('cambista'), false, 'a node has no data directory')
})

test('the demo runs in the image, and answers each request that it proposes', async (t) => {
  const image = unpackImage(t, ARCHIVE, ownArchitecture())
  const env = { TMPDIR: '/data' } // nothing else can be written
  const words = ['demo', '--port', '0']
  const container = startContainer(t, image, { volume: makeVolume(t, image), words, env })
  await container.says(/History complete/)
  const lines = await container.says(/^(On the command line:[\s\S]*openapi\.json)$/m)
  const requests = lines.split('\n').filter((line) => line.startsWith('  curl '))
  assert.ok(requests.length >= 11, lines)
  for (const request of requests) {
    const strict = request.trim().replace('curl -s ', 'curl -sS --fail-with-body ')
    const answer = execFileSync('/bin/sh', ['-c', strict], { encoding: 'utf8' })
    assert.notEqual(answer, '', request)
  }
  assert.equal((await container.stop()).code, 0)
})

test('skopeo inspects the image of each kind, and copies all with their digests', (t) => {
  const source = `oci-archive:${ARCHIVE}`
  for (const { debian } of Object.values(MACHINES)) {
    const inspect = (...words: string[]) =>
      JSON.parse(output('skopeo', `--override-arch=${debian}`, 'inspect', ...words, source))
    const { Architecture, Labels } = inspect()
    assert.deepEqual([Architecture, Labels['org.opencontainers.image.title']], [debian, 'cambista'])
    assert.equal(inspect('--config').config.User, `${USER}:${USER}`)
  }
  output('skopeo', 'copy', '--all', source, `oci:${join(directory(t), 'copy')}:all`)
})

test('the image has one program, and the licence of each library with the texts that it names', (t) => {
  for (const { debian } of Object.values(MACHINES)) {
    const { root } = unpackImage(t, ARCHIVE, debian)
    const list = (pattern: string) => globSync(pattern, { cwd: root })
    assert.deepEqual(list('{bin,sbin,usr/bin,usr/sbin,usr/local}/**'), ['usr/bin', 'usr/bin/cambista'])
    const packages = list('var/lib/dpkg/status.d/*').map((path) => path.split('/').at(-1) ?? '')
    for (const library of ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1']) {
      assert.ok(packages.includes(library), library)
      const copyright = readFileSync(join(root, 'usr/share/doc', library, 'copyright'), 'utf8')
      const texts = [...copyright.matchAll(/\/usr\/share\/(common-licenses\/[\w-]+(\.\d+)*)/g)]
      assert.ok(texts.length > 0, library)
      for (const [, path = ''] of texts) assert.ok(existsSync(join(root, 'usr/share', path)), path)
    }
    for (const paper of ['LICENSE', 'THIRD-PARTY-LICENSES'])
      assert.ok(statSync(join(root, 'usr/share/doc/cambista', paper)).size > 1000, paper)
  }
})

/** Uploads a document as the manual shows it, and reads its content back. */
async function uploadAndFetch(container: Container, url: string): Promise<void> {
  for (const line of [
    'company create --name Acme --code ACME --id 1',
    'owner create --name Ana --company 1 --id 1',
    'agent create --company 1 --name Lector --id 1',
  ])
    await printed(container, line.split(' '))
  const allow = ['--allow', 'documents:POST', '--allow', 'documents:GET']
  const token = await printed(container, ['token', 'create', 'erp', ...allow])
  const headers = { authorization: `Bearer ${token}` }
  const document = { name: 'factura.txt', mimetype: 'text/plain', base64: CONTENT.toString('base64') }
  const body = JSON.stringify({ owner_id: 1, company_id: 1, agent_id: 1, documents: [document] })
  const upload = await fetch(`${url}/api/v1/documents/create`, { method: 'POST', headers, body })
  assert.equal(upload.status, 200, await upload.text())
  const content = await fetch(`${url}/api/v1/documents/1/content`, { headers })
  assert.deepEqual(Buffer.from(await content.arrayBuffer()), CONTENT)
}

/** Checks that the process is number 1 of the container, has no privilege, and can write into the volume alone. */
function assertUnprivileged(container: Container): void {
  const status = readFileSync(`/proc/${container.processId()}/status`, 'utf8')
  assert.match(status, /^NSpid:\t\d+\t1$/m)
  for (const name of ['Uid', 'Gid'])
    assert.match(status, new RegExp(`^${name}:(\\t${USER}){4}$`, 'm'), status)
  assert.match(status, /^Groups:\t *$/m)
  assert.match(status, /^CapEff:\t0+$/m)
  const mounts = readFileSync(`/proc/${container.processId()}/mountinfo`, 'utf8')
  assert.match(mounts, /^\S+ \S+ \S+ \S+ \/ ro[, ]/m)
  assert.match(mounts, /^\S+ \S+ \S+ \S+ \/data rw[, ]/m)
}

/** Returns the address of the server for this machine. */
async function listeningUrl(container: Container): Promise<string> {
  const url = await container.says(/ listening url=(\S+)/)
  return url.replace('0.0.0.0', '127.0.0.1')
}

/** Runs a command in a container, which must succeed, and returns its output. */
async function printed(container: Container, words: readonly string[]): Promise<string> {
  const { code, out, err } = await container.exec(words)
  assert.equal(code, 0, err)
  return out.trim()
}

function output(command: string, ...words: string[]): string {
  return execFileSync(command, words, { encoding: 'utf8' })
}

function architectureName(arch: string): string {
  return MACHINES[arch]?.debian ?? ''
}

function ownArchitecture(): string {
  return architectureName(Object.keys(MACHINES).find((arch) => arch !== foreignArch) ?? '')
}

function emulatorPath(arch: string): string {
  const [emulator] = runnerWords(arch) ?? []
  assert.ok(emulator, `this machine cannot run ${arch}: node build.mjs --missing`)
  return output('/bin/sh', '-c', `command -v ${emulator}`).trim()
}
