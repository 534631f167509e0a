// Makes the Debian package of one machine kind: executable, unit, system user, man page, completions. Its maintainer
// scripts are in deb/. Settings are no conffile, since `service install` may have written them before.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { completionScript } from '../cli/commands/completion.ts'
import { loadCommands } from '../cli/commands.ts'
import { SETTINGS_FILE } from '../cli/parse/settings.ts'
import { BACKUPS } from '../cli/service/backup.ts'
import { unitText, WANTED } from '../cli/service/install.ts'
import * as names from '../cli/service/service-names.ts'
import { settingsText } from '../cli/service/settings-file.ts'
import { gzip } from './gzip.mjs'
import { MACHINES } from './machines.mjs'
import { manPage } from './man-page.mjs'

const ROOT = join(import.meta.dirname, '../..')
const TEMPLATES = join(import.meta.dirname, 'deb')
const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm']
const PACKAGED_SETTINGS = '/usr/share/cambista/cambista.env'
const DOC = '/usr/share/doc/cambista'
// The project has no address of mail: SECURITY has the way to report.
const MAINTAINER = 'The cambista authors <cambista@example.invalid>'
// Libraries that the executable is linked with, and what makes its user.
const DEPENDS =
  'libc6 (>= 2.34), libatomic1, libgcc-s1, libstdc++6 (>= 5), systemd | systemd-standalone-sysusers'

/** Writes `cambista_VERSION_ARCH.deb` into a directory and returns its name. The same input makes the same bytes. */
export async function makeDeb({ version, epoch, arch, executable, licenses, dist }) {
  const work = fs.mkdtempSync(join(dist, '.deb-'))
  try {
    const root = join(work, 'root')
    const files = await packageFiles({ version, epoch, licenses })
    for (const { path, mode, content } of files) write(root, path, content, mode)
    const program = join(root, names.PACKAGE_EXECUTABLE)
    fs.mkdirSync(dirname(program), { recursive: true })
    fs.copyFileSync(executable, program)
    fs.chmodSync(program, 0o755)
    const paths = fs.readdirSync(root, { recursive: true }).sort()
    for (const { name, mode, content } of controlFiles({ version, arch, root, paths }))
      write(root, join('DEBIAN', name), content, mode)
    setModesAndTimes(root, epoch)
    const name = `cambista_${version}_${MACHINES[arch].debian}.deb`
    // Uses one thread, since several would cut the compressed stream into other blocks.
    const words = ['--root-owner-group', '-Zxz', '-z6', '--threads-max=1', '--build', root, join(work, name)]
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch), LC_ALL: 'C' }
    const { status, error } = spawnSync('dpkg-deb', words, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    if (status !== 0) throw new Error(`dpkg-deb failed: ${error?.message ?? status}`)
    fs.renameSync(join(work, name), join(dist, name))
    return name
  } finally {
    fs.rmSync(work, { recursive: true, force: true })
  }
}

/** Returns the files of the package besides the executable: path, mode, content. */
export async function packageFiles({ version, epoch, licenses }) {
  const commands = await loadCommands()
  const texts = {
    [names.PACKAGE_UNIT_FILE]: unitText(names.PACKAGE_EXECUTABLE),
    '/usr/lib/sysusers.d/cambista.conf': `${names.SYSTEM_USER}\n`,
    [PACKAGED_SETTINGS]: settingsText(),
    '/usr/share/man/man1/cambista.1.gz': gzip(await manPage({ version, epoch })),
    '/usr/share/bash-completion/completions/cambista': completionScript('bash', commands),
    '/usr/share/zsh/vendor-completions/_cambista': completionScript('zsh', commands),
    '/usr/share/lintian/overrides/cambista': template('lintian-overrides'),
    [`${DOC}/copyright`]: copyright(),
    [`${DOC}/THIRD-PARTY-LICENSES.gz`]: gzip(licenses),
    [`${DOC}/changelog.gz`]: gzip(debianChangelog(version, epoch)),
    [`${DOC}/CHANGELOG.md.gz`]: gzip(fs.readFileSync(join(ROOT, 'CHANGELOG.md'))),
  }
  return Object.entries(texts).map(([path, content]) => ({ path, mode: 0o644, content }))
}

/** Returns the maintainer scripts by name. */
export function maintainerScripts(version) {
  const tokens = names.TOKENS.map(
    ({ file, name }) => `ensure_token ${file} ${quote(names.noTokenText(name))}`,
  )
  const values = {
    ...names,
    BACKUPS,
    SETTINGS_FILE,
    PACKAGED_SETTINGS,
    VERSION: version,
    LOCAL_EXECUTABLE: names.EXECUTABLE,
    EXECUTABLE: names.PACKAGE_EXECUTABLE,
    WANTED_FILE: WANTED,
    DROP_IN: 'replaced-unit.conf',
    TOKENS: tokens.join('\n'),
    FUNCTIONS: template('functions').replace('@VERSION@', version),
    TOKEN_FILES: names.TOKENS.map(({ file }) => file).join(' '),
  }
  return Object.fromEntries(
    SCRIPTS.map((name) => [name, template(name).replace(/@([A-Z_]+)@/g, (_, key) => values[key])]),
  )
}

/** Returns the control file of a package whose files have this size. */
export function controlText({ version, arch, kibibytes }) {
  return `Package: cambista
Version: ${version}
Architecture: ${MACHINES[arch].debian}
Maintainer: ${MAINTAINER}
Installed-Size: ${kibibytes}
Depends: ${DEPENDS}
Section: net
Priority: optional
Description: exchange rates of the Banco Central de Costa Rica, document inbox
 A server with the exchange rates of the Banco Central de Costa Rica, for
 accountants, ERPs and spreadsheets, and with an inbox of documents for AI
 agents. It is one executable over one SQLite file and a folder of contents;
 several nodes can share a PostgreSQL and a bucket.
`
}

/** Returns control, md5sums and scripts of a package whose files are below `root`. */
function controlFiles({ version, arch, root, paths }) {
  const stats = paths.map((path) => fs.lstatSync(join(root, path)))
  const kibibytes = stats.map((one) => (one.isFile() ? Math.ceil(one.size / 1024) : 1))
  const sums = paths
    .filter((_, at) => stats[at].isFile())
    .map(
      (path) =>
        `${createHash('md5')
          .update(fs.readFileSync(join(root, path)))
          .digest('hex')}  ${path}\n`,
    )
  const sum = kibibytes.reduce((total, one) => total + one, 0)
  const scripts = Object.entries(maintainerScripts(version))
  return [
    { name: 'control', mode: 0o644, content: controlText({ version, arch, kibibytes: sum }) },
    { name: 'md5sums', mode: 0o644, content: sums.join('') },
    ...scripts.map(([name, content]) => ({ name, mode: 0o755, content })),
  ]
}

function copyright() {
  const license = fs.readFileSync(join(ROOT, 'LICENSE'), 'utf8')
  return `${license}\nTHIRD-PARTY-LICENSES.gz in this directory has the licences of Node.js and of the packages in the executable.\n`
}

function debianChangelog(version, epoch) {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  return `cambista (${version}) stable; urgency=medium

  * CHANGELOG.md.gz in this directory has the changes.

 -- ${MAINTAINER}  ${date}
`
}

function write(root, path, content, mode) {
  const target = join(root, path)
  fs.mkdirSync(dirname(target), { recursive: true })
  fs.writeFileSync(target, content)
  fs.chmodSync(target, mode)
}

/** Gives each file the same time, and each directory its mode, whatever umask and clock of this machine. */
function setModesAndTimes(root, epoch) {
  const paths = fs.readdirSync(root, { recursive: true }).sort().reverse() // children before their directory
  for (const path of [...paths.map((one) => join(root, one)), root]) {
    if (fs.lstatSync(path).isDirectory()) fs.chmodSync(path, 0o755)
    fs.utimesSync(path, epoch, epoch)
  }
}

function template(name) {
  return fs.readFileSync(join(TEMPLATES, basename(name)), 'utf8')
}

/** Quotes a text for the shell; `echo` adds the line end. */
function quote(text) {
  return `'${text.trimEnd().replaceAll("'", "'\\''")}'`
}
