// Settings file of a new service: each option of serve with its help, and remarks about the service.

import { helpTexts } from '../help/texts.ts'
import { variableName } from '../options/names.ts'
import { type OptionName, requireOption } from '../options/options.ts'
import { SERVE_OPTIONS } from '../serve-options.ts'
import { BACKUPS } from './backup.ts'
import { DATA_DIR, TOKENS, USER } from './service-names.ts'

/** Returns the text of the settings file. An option with its default is commented out. */
export function settingsText(): string {
  const head = `# Settings of cambista. systemd gives them to the service; every cambista command takes them too, below its
# flags and environment. After a change: systemctl restart cambista
`
  const texts = helpTexts('en')
  const lines = SERVE_OPTIONS.map((name) => {
    const { fallback, value } = requireOption(name)
    const preset = PRESETS[name]
    const text = preset?.value ?? fallback ?? (value === undefined ? '1' : '')
    const setting = `${variableName(name)}=${text.includes(' ') ? `"${text}"` : text}`
    const remarks = [texts.option(name), ...(preset?.remarks ?? [])].map((line) => `# ${line}\n`)
    return `\n${remarks.join('')}${preset?.value === undefined ? '#' : ''}${setting}\n`
  })
  return head + lines.join('')
}

const TOKEN_COPY =
  'for commands that root runs; the service always reads a copy of this one, made when it starts'

const PRESETS: { [name in OptionName]?: { value?: string; remarks: string[] } } = {
  port: {
    remarks: ['below 1024 it needs the drop-in that cambista service print --low-ports prints'],
  },
  'also-listen': {
    remarks: ['several with commas between; https:// takes the certificates of CAMBISTA_TLS_CERT'],
  },
  'tls-cert': {
    remarks: [`the user ${USER} must be able to read it: root:${USER}, mode 0640, not below /home or /root`],
  },
  'data-dir': {
    value: DATA_DIR,
    remarks: [
      `another one must belong to the user ${USER}, and needs a drop-in (systemctl edit cambista):`,
      '[Service] ReadWritePaths=DIR',
    ],
  },
  'backup-dir': {
    remarks: [
      `sudo cambista service install --backup-dir DIR sets it, makes DIR and lets the service write there; with the`,
      `Debian package see cambista manual service; the service may write into ${BACKUPS}`,
    ],
  },
  database: {
    remarks: [
      'with this, nodes share their data; a password may be part of it: only root and the service read this file',
    ],
  },
  'database-file': {
    remarks: [`the user ${USER} must be able to read it, and does not see files below /home or /root`],
  },
  blobs: {
    remarks: [
      'after a change sudo cambista service install again, which lets the service write into a directory; with the',
      'Debian package: systemctl edit cambista, [Service] ReadWritePaths=DIR',
    ],
  },
  's3-endpoint': {
    remarks: [
      'credentials of the bucket: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in this file, or what the machine has',
    ],
  },
  ...Object.fromEntries(TOKENS.map(({ option, file }) => [option, { value: file, remarks: [TOKEN_COPY] }])),
}
