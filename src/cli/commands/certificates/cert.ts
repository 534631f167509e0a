import { resolve } from 'node:path'
import { command, printResult } from '../../command.ts'
import { nonEmpty } from '../../option-formats.ts'
import { SETTINGS_FILE } from '../../settings.ts'
import { allOf, hostList } from './hosts.ts'

// Apple's systems refuse a longer one for a server; the others do not mind.
const VALID_DAYS = 825

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
      help: 'name or IP address by which clients ask; with commas between, or the flag again for each',
      format: hostList,
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
    const hosts = allOf(options.host)
    const { selfSigned, validFor } = await import('./certificate.ts') // a library that other commands do not need
    const { keyForService, writeNew } = await import('./files.ts')
    const { certificate, pem } = selfSigned(hosts, validFor(VALID_DAYS, Date.now()))
    const { cert, key } = writeNew(resolve(options.out), { key: pem.key, cert: pem.cert })
    const until = certificate.validToDate.toISOString()
    const sha256 = certificate.fingerprint256
    printResult(terminal, options, { cert, key, hosts, until, sha256 }, [cert, key])
    terminal.err(`A certificate for ${hosts.join(', ')}, valid until ${until}. Its fingerprint (SHA-256) is
${sha256}
Serve with --tls-cert ${cert} --tls-key ${key}
(CAMBISTA_TLS_CERT and CAMBISTA_TLS_KEY in ${SETTINGS_FILE}). Clients trust a copy of cert.pem (curl --cacert cert.pem).
`)
    terminal.err(keyForService(key))
    return 0
  },
})
