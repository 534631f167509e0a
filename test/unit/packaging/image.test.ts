// Checks the image of a tiny executable: its layout, its settings and its files. The real one runs in test/release.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { temporaryDirectory } from '../../support/temporary.ts'

type Package = { name: string; kind: string; version: string; digest: string; file: string }
type Descriptor = {
  mediaType: string
  digest: string
  size: number
  platform?: { architecture: string; os: string }
}

const PACKAGING = join(import.meta.dirname, '../../../src/packaging')
const { debianLibraries, isLibrary, listPackages }: DebianLibraries = await import(
  join(PACKAGING, 'debian-libraries.mjs')
)
type DebianLibraries = {
  debianLibraries(arch: string, cache: string): unknown[]
  isLibrary(path: string): boolean
  listPackages(cache: string): Package[]
}

const EPOCH = 1_764_000_000
// Makes the image of the executables in the working directory.
const MAKE = `import { makeImage } from '${PACKAGING}/image.mjs'
  console.log(makeImage({
    version: '9.8.7', epoch: ${EPOCH}, commit: 'c0ffee', dist: '.',
    executables: { x64: 'x64', arm64: 'arm64' }, licenses: 'theirs',
    libraries: (arch) => [
      { name: 'lib/' + arch + '/libc.so.6', content: arch, mode: 0o755 },
      { name: 'lib64/ld.so', link: '../lib/' + arch + '/libc.so.6' },
    ],
  }))`

/** Makes an image in a new folder. `umask`, `env` and `at`, the time of the executables, must not change its bytes. */
function makeImage(t: TestContext, { umask = '022', env = {}, at = EPOCH } = {}): string {
  const folder = temporaryDirectory(t)
  for (const arch of ['x64', 'arm64']) {
    writeFileSync(join(folder, arch), `#!${arch}`, { mode: 0o700 })
    utimesSync(join(folder, arch), at, at)
  }
  const script = `umask ${umask}; exec "$0" --input-type=module --eval "$1"`
  const words = ['-c', script, process.execPath, MAKE]
  const end = spawnSync('/bin/sh', words, { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8' })
  assert.equal(end.stdout, 'cambista-9.8.7.oci.tar\n', end.stderr)
  return join(folder, 'cambista-9.8.7.oci.tar')
}

/** Unpacks an image and returns a function that reads a blob, whose digest and size it checks. */
function openImage(t: TestContext, file = makeImage(t)) {
  const folder = join(temporaryDirectory(t), 'layout')
  mkdirSync(folder)
  assert.equal(spawnSync('tar', ['-xf', file, '-C', folder]).status, 0)
  const readBlob = ({ digest, size }: Descriptor): Buffer => {
    const bytes = readFileSync(join(folder, 'blobs', digest.replace(':', '/')))
    assert.deepEqual([digest, size], [`sha256:${sha256(bytes)}`, bytes.length])
    return bytes
  }
  const readJson = (descriptor: Descriptor) => JSON.parse(readBlob(descriptor).toString())
  const top = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
  const [entry]: Descriptor[] = top.manifests
  assert.ok(entry)
  const manifests: Descriptor[] = readJson(entry).manifests
  const images = manifests.map((descriptor) => {
    const { config, layers } = readJson(descriptor)
    return { descriptor, config: readJson(config), layers: layers.map(readBlob), blobs: [config, ...layers] }
  })
  return { folder, top, entry, images }
}

test('the image is an OCI layout whose index has an image of both machine kinds, with right digests', (t) => {
  const { folder, top, entry, images } = openImage(t)
  assert.equal(readFileSync(join(folder, 'oci-layout'), 'utf8'), '{"imageLayoutVersion":"1.0.0"}')
  assert.equal(top.manifests.length, 1, 'skopeo would need a name to choose by')
  assert.equal(top.manifests[0].annotations['org.opencontainers.image.ref.name'], 'cambista:9.8.7')
  assert.equal(entry.mediaType, 'application/vnd.oci.image.index.v1+json')
  assert.deepEqual(
    images.map(({ descriptor: { platform } }) => platform),
    ['amd64', 'arm64'].map((architecture) => ({ architecture, os: 'linux' })),
  )
  for (const { descriptor, config, layers } of images) {
    assert.deepEqual({ architecture: config.architecture, os: config.os }, descriptor.platform)
    const tars = layers.map((layer: Buffer) => `sha256:${sha256(gunzipSync(layer))}`)
    assert.deepEqual(config.rootfs, { type: 'layers', diff_ids: tars })
  }
  const descriptors = [entry, ...images.flatMap(({ descriptor, blobs }) => [descriptor, ...blobs])]
  const digests = descriptors.map(({ digest }) => digest.replace('sha256:', ''))
  assert.deepEqual(readdirSync(join(folder, 'blobs/sha256')).sort(), digests.sort())
})

test('a container runs `serve` as user 65532 on all addresses, with a volume and labels', (t) => {
  for (const { config } of openImage(t).images) {
    const { Healthcheck: check, Labels: labels, ...settings } = config.config
    assert.deepEqual(settings, {
      User: '65532:65532',
      ExposedPorts: { '8080/tcp': {} },
      Env: [
        'PATH=/usr/bin',
        'CAMBISTA_HOST=0.0.0.0',
        'CAMBISTA_DATA_DIR=/data/cambista',
        'MALLOC_ARENA_MAX=2',
        'MALLOC_MMAP_THRESHOLD_=32768',
        'MALLOC_TRIM_THRESHOLD_=65536',
      ],
      Entrypoint: ['/usr/bin/cambista'],
      Cmd: ['serve'],
      Volumes: { '/data': {} },
      WorkingDir: '/data',
      StopSignal: 'SIGTERM',
    })
    const created = '2025-11-24T16:00:00Z'
    assert.equal(config.created, created)
    const values = Object.entries(labels).map(([name, value]) => [
      name.replace('org.opencontainers.image.', ''),
      value,
    ])
    const { description, ...others } = Object.fromEntries(values)
    assert.match(description, /Banco Central de Costa Rica/)
    const expected = { title: 'cambista', version: '9.8.7', revision: 'c0ffee', created, licenses: 'MIT' }
    assert.deepEqual(others, expected)
    assert.deepEqual(check.Test, ['CMD', '/usr/bin/cambista', 'healthcheck'])
  }
})

test('a loaded server is unhealthy after five minutes without an answer, and not during a migration', (t) => {
  const second = 1e9
  for (const { config } of openImage(t).images) {
    const { Interval, Timeout, StartPeriod, Retries } = config.config.Healthcheck
    assert.ok(Interval * Retries >= 300 * second)
    assert.ok(StartPeriod >= 300 * second)
    assert.ok(Timeout >= 10 * second && Timeout <= Interval, '`healthcheck` itself waits for 5 seconds')
  }
})

test('the image has the executable, libraries and papers, and neither shell nor package manager', (t) => {
  const { images } = openImage(t)
  for (const [at, arch] of ['x64', 'arm64'].entries()) {
    const list = ['-tvz', '--numeric-owner', '--full-time', '--utc']
    const [layer] = images[at]?.layers ?? []
    const { stdout } = spawnSync('tar', list, { input: layer, encoding: 'utf8' })
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ +/g, ' '))
    const times = new Set(lines.map((line) => line.split(' ').slice(3, 5).join(' ')))
    assert.deepEqual([...times], ['2025-11-24 16:00:00'])
    assert.deepEqual(
      lines.map((line) => line.replace(/ \d+ 2025-11-24 16:00:00/, '')),
      [
        'drwx------ 65532/65532 data/',
        'drwxr-xr-x 0/0 etc/',
        '-rw-r--r-- 0/0 etc/group',
        '-rw-r--r-- 0/0 etc/nsswitch.conf',
        '-rw-r--r-- 0/0 etc/passwd',
        'drwxr-xr-x 0/0 lib/',
        `drwxr-xr-x 0/0 lib/${arch}/`,
        `-rwxr-xr-x 0/0 lib/${arch}/libc.so.6`,
        'drwxr-xr-x 0/0 lib64/',
        `lrwxrwxrwx 0/0 lib64/ld.so -> ../lib/${arch}/libc.so.6`,
        'drwxrwxrwt 0/0 tmp/',
        'drwxr-xr-x 0/0 usr/',
        'drwxr-xr-x 0/0 usr/bin/',
        '-rwxr-xr-x 0/0 usr/bin/cambista',
        'drwxr-xr-x 0/0 usr/share/',
        'drwxr-xr-x 0/0 usr/share/doc/',
        'drwxr-xr-x 0/0 usr/share/doc/cambista/',
        '-rw-r--r-- 0/0 usr/share/doc/cambista/LICENSE',
        '-rw-r--r-- 0/0 usr/share/doc/cambista/THIRD-PARTY-LICENSES',
      ],
    )
    const read = (name: string) => spawnSync('tar', ['-xzO', name], { input: layer, encoding: 'utf8' }).stdout
    assert.equal(read('usr/bin/cambista'), `#!${arch}`)
    assert.match(read('etc/passwd'), /^cambista:x:65532:65532:cambista:\/data:\/nonexistent\n$/)
  }
})

test('the image has the same bytes under another umask, locale, time and folder', (t) => {
  const other = { umask: '077', env: { TZ: 'Pacific/Auckland', LC_ALL: 'C.UTF-8', LANG: 'es_CR' }, at: 1 }
  const [one, two] = [makeImage(t), makeImage(t, other)].map((file) => sha256(readFileSync(file)))
  assert.equal(two, one)
})

test('the image has each C library that this Node loads', () => {
  const report = process.report.getReport() as unknown as { sharedObjects: string[] }
  const libraries = report.sharedObjects.filter((path) => path.startsWith('/') && !path.endsWith('.node'))
  assert.ok(libraries.length >= 6, libraries.join())
  assert.deepEqual(
    libraries.map((path) => path.slice(1)).filter((path) => !isLibrary(path)),
    [],
  )
  assert.deepEqual(['lib/x86_64-linux-gnu/libnsl.so.1', 'bin/sh', 'usr/bin/dpkg'].filter(isLibrary), [])
})

test('debian-packages.json pins a version and a digest of each package for both machine kinds', () => {
  const packages = listPackages('/cache')
  assert.equal(packages.length, 12)
  for (const { name, kind, version, digest, file } of packages) {
    assert.match(kind, /^(amd64|arm64)$/)
    assert.match(version, /^\d[\w.+~-]+$/)
    assert.match(digest, /^[0-9a-f]{64}$/)
    assert.equal(file, `/cache/${name}_${version}_${kind}.deb`)
  }
})

test('`debianLibraries` refuses a package with another digest by its name, and deletes it', (t) => {
  const cache = temporaryDirectory(t)
  const packages = listPackages(cache)
  for (const { file } of packages) writeFileSync(file, 'another package')
  const first = packages.find(({ kind }) => kind === 'amd64')?.file ?? ''
  assert.throws(() => debianLibraries('x64', cache), {
    message: `${first} is not what src/packaging/debian-packages.json says it is`,
  })
  assert.equal(existsSync(first), false)
})

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
