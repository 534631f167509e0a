// Instructions for an intercept certificate: on this machine, and on the machines of the programs.

import { SETTINGS_FILE } from '../../parse/settings.ts'
import { LOW_PORTS, LOW_PORTS_COMMANDS } from '../server/low-ports.ts'

export type InterceptCertificate = {
  hosts: readonly string[]
  /** Hosts that need a line in /etc/hosts to resolve to this machine. */
  fixed: readonly string[]
  files: { ca: string; cert: string; key: string }
  until: string
  sha256: string
  /** Address of this machine for other machines; undefined: unknown. */
  address: string | undefined
}

const WARNINGS: Readonly<Record<string, string>> = {
  'apim.bccr.fi.cr':
    'apim.bccr.fi.cr must not lead to this machine on this machine itself, because the rates come from there.',
  'api.hacienda.go.cr':
    'api.hacienda.go.cr has more than rates: /fe/* of electronic invoicing is a 404 here. Lead it here only on machines that need none of that.',
  'www.ecb.europa.eu':
    "www.ecb.europa.eu is the whole website of the ECB: here are its files of rates alone, with the rates of Costa Rica's bank.",
  'apis.gometa.org':
    'apis.gometa.org has more than rates: /cedulas/* is a 404 here. Lead it here only on machines that need none of that.',
}

export function guidance(certificate: InterceptCertificate): string {
  const { hosts, fixed, files, until, sha256, address = 'ADDRESS' } = certificate
  const alias = `cambista-${hosts[0]}`
  const line =
    fixed.length > 0 ? `${address} ${fixed.join(' ')}` : 'none: this machine has these names already'
  return `A certificate for ${hosts.join(', ')}, valid until ${until}, and the CA that signed it and can sign
nothing more. The CA's fingerprint (SHA-256) is
${sha256}

1. Serve with it. In ${SETTINGS_FILE}, or as flags of the same names; the address of CAMBISTA_PORT speaks HTTPS too, then:
CAMBISTA_TLS_CERT=${files.cert}
CAMBISTA_TLS_KEY=${files.key}
CAMBISTA_ALSO_LISTEN=https://0.0.0.0:443,http://0.0.0.0:80

2. For ports below 1024 the service needs this drop-in:
${indented(LOW_PORTS_COMMANDS)}
${indented(LOW_PORTS)}
3. On each machine whose programs ask, a line in /etc/hosts (C:\\Windows\\System32\\drivers\\etc\\hosts):
${line}

4. There, trust a copy of ca.pem, whichever the program reads:
Linux    sudo cp ca.pem /usr/local/share/ca-certificates/${alias}.crt && sudo update-ca-certificates
         (Red Hat: /etc/pki/ca-trust/source/anchors/, update-ca-trust)
Windows  certutil -addstore Root ca.pem   (as administrator; .NET and Excel read it)
Java     keytool -importcert -noprompt -cacerts -storepass changeit -alias ${alias} -file ca.pem
Odoo     as on Linux, then in its environment REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt
Node     in its environment NODE_EXTRA_CA_CERTS=ca.pem

cambista manual hostnames says more.
`
}

/** Returns warnings about hosts that have other uses too. */
export function warnings(hosts: readonly string[]): string[] {
  return hosts.flatMap((host) => WARNINGS[host] ?? [])
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}
