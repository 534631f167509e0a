// Makes cambista-VERSION.oci.tar: an image for containers in the OCI layout, for each machine kind one, and an index of
// them. An image is the executable, its C libraries out of Debian's packages, and papers: no shell, no package manager.
// Node has the certificates of authorities and the time zones in it.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { debianLibraries } from './debian-libraries.mjs'
import { gzip } from './gzip.mjs'
import { MACHINES } from './machines.mjs'
import { tar } from './tar.mjs'
import { ALLOCATOR } from './unit.mjs'

const ROOT = join(import.meta.dirname, '../..')
const OCI = 'application/vnd.oci.image'
const LABEL = 'org.opencontainers.image'
const USER = 65532
const VOLUME = 'data'
// A volume of Kubernetes, or a disk with lost+found, belongs to root, and the program makes its directory private.
const DATA_DIR = `/${VOLUME}/cambista`
const SECOND = 1e9 // Docker counts times in nanoseconds
// A server that is busy or migrates its database must not be restarted. So ten failures in a row, in five minutes, make
// it unhealthy. A check ends by itself after five seconds, but on a busy machine its process starts slowly.
const HEALTHCHECK = {
  Test: ['CMD', '/usr/bin/cambista', 'healthcheck'],
  Interval: 30 * SECOND,
  Timeout: 20 * SECOND,
  StartPeriod: 600 * SECOND,
  Retries: 10,
}
/** Files that C libraries and containers expect. Without nsswitch.conf names of /etc/hosts would not be found. */
const SYSTEM = [
  { name: 'etc/passwd', content: `cambista:x:${USER}:${USER}:cambista:/${VOLUME}:/nonexistent\n` },
  { name: 'etc/group', content: `cambista:x:${USER}:\n` },
  { name: 'etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nhosts: files dns\n' },
  { name: `${VOLUME}/`, owner: USER, mode: 0o700 },
  { name: 'tmp/', mode: 0o1777 },
]

/**
 * Writes the image into `dist` and returns its name. `epoch`: seconds since 1970 of the release. `executables`: paths by
 * machine kind. `licenses`: the text of THIRD-PARTY-LICENSES. `libraries`: returns entries of `tar` for a machine kind.
 */
export function makeImage({
  version,
  epoch,
  commit,
  executables,
  licenses,
  dist,
  libraries = debianLibraries,
}) {
  const blobs = []
  const addBlob = (bytes) => {
    const digest = sha256(bytes)
    blobs.push({ name: `blobs/sha256/${digest}`, content: bytes })
    return { digest: `sha256:${digest}`, size: bytes.length }
  }
  const created = new Date(epoch * 1000).toISOString().replace('.000Z', 'Z')
  const labels = imageLabels({ version, commit, created })
  const manifests = Object.entries(executables).map(([arch, executable]) => {
    const layer = tar([...SYSTEM, ...programEntries(executable, licenses), ...libraries(arch)], epoch)
    const platform = { architecture: MACHINES[arch].debian, os: 'linux' }
    const config = json({
      created,
      ...platform,
      config: containerConfig(labels),
      rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
      history: [{ created, created_by: `cambista ${version}` }],
    })
    const manifest = json({
      schemaVersion: 2,
      mediaType: `${OCI}.manifest.v1+json`,
      config: { mediaType: `${OCI}.config.v1+json`, ...addBlob(config) },
      layers: [{ mediaType: `${OCI}.layer.v1.tar+gzip`, ...addBlob(gzip(layer, 6)) }],
      annotations: labels,
    })
    return { mediaType: `${OCI}.manifest.v1+json`, ...addBlob(manifest), platform }
  })
  const index = { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, annotations: labels, manifests }
  const name = `cambista:${version}` // so that a load names the image
  const entry = {
    mediaType: `${OCI}.index.v1+json`,
    ...addBlob(json(index)),
    annotations: { 'io.containerd.image.name': `localhost/${name}`, [`${LABEL}.ref.name`]: name },
  }
  const layout = [
    { name: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', content: json({ schemaVersion: 2, manifests: [entry] }) },
  ]
  const file = `cambista-${version}.oci.tar`
  writeFileSync(join(dist, file), tar([...layout, ...blobs], epoch))
  return file
}

function imageLabels({ version, commit, created }) {
  const { description, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const labels = { title: 'cambista', description, version, revision: commit, created, licenses: license }
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`${LABEL}.${name}`, value]))
}

function programEntries(executable, licenses) {
  const papers = 'usr/share/doc/cambista'
  return [
    { name: 'usr/bin/cambista', content: readFileSync(executable), mode: 0o755 },
    { name: `${papers}/LICENSE`, content: readFileSync(join(ROOT, 'LICENSE')) },
    { name: `${papers}/THIRD-PARTY-LICENSES`, content: licenses },
  ]
}

/** Returns how a container runs. `Healthcheck` is Docker's extension, and Kubernetes has probes instead. */
function containerConfig(labels) {
  return {
    User: `${USER}:${USER}`,
    ExposedPorts: { '8080/tcp': {} },
    Env: ['PATH=/usr/bin', 'CAMBISTA_HOST=0.0.0.0', `CAMBISTA_DATA_DIR=${DATA_DIR}`].concat(
      Object.entries(ALLOCATOR).map((setting) => setting.join('=')),
    ),
    Entrypoint: ['/usr/bin/cambista'],
    Cmd: ['serve'],
    Volumes: { [`/${VOLUME}`]: {} },
    WorkingDir: `/${VOLUME}`,
    Labels: labels,
    StopSignal: 'SIGTERM',
    Healthcheck: HEALTHCHECK,
  }
}

function json(value) {
  return Buffer.from(JSON.stringify(value))
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}
