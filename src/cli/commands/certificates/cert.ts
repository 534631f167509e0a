import { resolve } from 'node:path'
import { command, printResult } from '../../command.ts'
import { nonEmpty } from '../../options/formats.ts'
import { list, option } from '../../options/names.ts'
import { SETTINGS_FILE } from '../../parse/settings.ts'
import { createSelfSigned, validityPeriod } from './certificate.ts'
import { keyAccessHint, writeNewFiles } from './files.ts'
import { hostList, mergeHosts } from './hosts.ts'

// Longest validity that Apple's systems accept for a server.
const VALID_DAYS = 825

export const certCreate = command({
  name: 'cert create',
  options: ['host', 'out', 'json'],
  required: ['host', 'out'],
  overrides: { host: list('NAME', hostList), out: option('DIR', nonEmpty) },
  ignoresService: true,
  async run({ options, terminal }) {
    const hosts = mergeHosts(options.host)
    const { certificate, pem } = createSelfSigned(hosts, validityPeriod(VALID_DAYS, Date.now()))
    const { cert, key } = writeNewFiles(resolve(options.out), { key: pem.key, cert: pem.cert })
    const until = certificate.validToDate.toISOString()
    const sha256 = certificate.fingerprint256
    printResult(terminal, options, { cert, key, hosts, until, sha256 }, [cert, key])
    terminal.err(`A certificate for ${hosts.join(', ')}, valid until ${until}. Its fingerprint (SHA-256) is
${sha256}
Serve with --tls-cert ${cert} --tls-key ${key}
(CAMBISTA_TLS_CERT and CAMBISTA_TLS_KEY in ${SETTINGS_FILE}). Clients trust a copy of cert.pem (curl --cacert cert.pem).
`)
    terminal.err(keyAccessHint(key))
  },
})
