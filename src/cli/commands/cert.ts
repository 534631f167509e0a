import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { domainToASCII } from 'node:url'
import { AppError, reasonOf } from '../../errors.ts'
import { command, printResult } from '../command.ts'
import { makeDirectory } from '../host.ts'
import { nonEmpty } from '../option-formats.ts'
import { SETTINGS_FILE } from '../settings.ts'

// Apple's systems refuse a longer one for a server; the others do not mind.
const VALID_DAYS = 825
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000 // the clock of a client may be late
const UNIT = '/etc/systemd/system/cambista.service'
const LABELS = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

export const certCreate = command({
  name: 'cert create',
  positionals: [],
  summary: 'make a self-signed certificate for HTTPS, and its key',
  about: `DIR/cert.pem is for the names and addresses of --host, for ${VALID_DAYS} days; DIR/key.pem, with mode 0600, is its key. Neither
overwrites a file. Clients do not trust it by themselves: give each a copy of cert.pem. To renew it, make another one in
a new DIR, hand out its cert.pem, then move both files over the old ones: a running server takes them by itself.`,
  options: ['host', 'out', 'json'],
  required: ['host', 'out'],
  own: {
    host: {
      value: 'NAME',
      fallback: undefined,
      help: 'name or IP address by which clients ask; give the flag again for each',
      format: { fault: hostFault, read: hostOf },
      repeats: true,
    },
    out: {
      value: 'DIR',
      fallback: undefined,
      help: 'directory for cert.pem and key.pem; made when it is not there',
      format: nonEmpty,
    },
  },
  ignoresService: true,
  changesData: false,
  example: 'cambista cert create --host cambista.example.com --host 192.168.1.10 --out /etc/cambista/tls',
  async run({ options, terminal }) {
    const hosts = options.host
    const dir = resolve(options.out)
    const now = Date.now()
    const { selfSigned } = await import('./certificate.ts') // a library that no other command needs
    const valid = { from: new Date(now - HOUR_MS), to: new Date(now + VALID_DAYS * DAY_MS) }
    const { certificate, pem } = selfSigned(hosts, valid)
    const files = writePair(dir, pem)
    const until = certificate.validToDate.toISOString()
    const sha256 = certificate.fingerprint256
    printResult(terminal, options, { ...files, hosts, until, sha256 }, [files.cert, files.key])
    terminal.err(`A certificate for ${hosts.join(', ')}, valid until ${until}. Its fingerprint (SHA-256) is
${sha256}
Serve with --tls-cert ${files.cert} --tls-key ${files.key}
(CAMBISTA_TLS_CERT and CAMBISTA_TLS_KEY in ${SETTINGS_FILE}). Clients trust a copy of cert.pem (curl --cacert cert.pem).
`)
    if (process.getuid?.() === 0 && existsSync(UNIT)) {
      terminal.err(`Let the service read the key: chown cambista: ${files.key}\n`)
    }
    return 0
  },
})

/** What is wrong with a name for a certificate; undefined: nothing. */
function hostFault(text: string): string | undefined {
  const host = hostOf(text)
  const isAddress = isIP(host) !== 0
  if (isAddress && /^[0:.]+$/.test(host))
    return 'must be a name or address by which clients ask, not one to listen on'
  if (isAddress || (host.length <= 253 && LABELS.test(host))) return undefined
  return 'must be a host name such as cambista.example.com, or an IP address, without port and path'
}

/** As it stands in a certificate. */
function hostOf(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, '$1')
  return (/[^ -~]/.test(bare) ? domainToASCII(bare) : bare).toLowerCase()
}

/** Writes both files, or none. A directory that it makes lets others in: the key is kept by its own mode. */
function writePair(dir: string, pem: { cert: string; key: string }): { cert: string; key: string } {
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  const there = Object.values(files).find((file) => existsSync(file))
  if (there)
    throw new AppError('failed', `${there} is there already and is not overwritten: choose another --out`)
  let keyIsOurs = false
  try {
    makeDirectory(dir)
    writeFileSync(files.key, pem.key, { flag: 'wx', mode: 0o600, flush: true })
    keyIsOurs = true
    writeFileSync(files.cert, pem.cert, { flag: 'wx', flush: true })
    chmodSync(files.cert, 0o644)
    return files
  } catch (error) {
    if (keyIsOurs) rmSync(files.key)
    throw new AppError('failed', `cannot write a certificate into ${dir}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}
