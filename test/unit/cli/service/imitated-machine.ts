// A machine with the service of cambista 0.2.0, and a signed release. Programs are files that describe themselves. Each
// start runs the step of the unit's drop-in first.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Terminal } from '../../../../src/cli/command.ts'
import type { CommandResult, Machine } from '../../../../src/cli/host.ts'
import { SETTINGS_FILE } from '../../../../src/cli/parse/settings.ts'
import { goBack } from '../../../../src/cli/service/go-back.ts'
import { installService } from '../../../../src/cli/service/install.ts'
import type { OwnerStep } from '../../../../src/cli/service/owner-steps.ts'
import { settleUpgrade } from '../../../../src/cli/service/put-back.ts'
import { EXECUTABLE } from '../../../../src/cli/service/service-names.ts'
import { upgradeService } from '../../../../src/cli/service/upgrade.ts'
import { PROBATION_PATH, type Probation, RETURN_PATH } from '../../../../src/cli/storage/probation.ts'
import { parsePublicKey } from '../../../../src/formats/minisign.ts'
import { makeKeyPair, readSecretKey, signContent } from '../../../support/release/signing.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const pair = makeKeyPair()
const key = parsePublicKey(pair.publicKey) ?? assert.fail()
const NEVER = new AbortController().signal
const DROP_IN = '/etc/systemd/system/cambista.service.d/zz-probation.conf'
const DATABASE = '/var/lib/cambista/cambista.db'

type Program = {
  version: string
  commit: string
  schema: number
  /** `broken`: does not start. `crashing`: ends at the first request. `silent`: is never ready.
   * `writing`: knows no probation. `uninstallable`: fails before it is installed. `early`: has no `upgrade`. */
  fate?: 'broken' | 'crashing' | 'early' | 'silent' | 'uninstallable' | 'writing'
}

export const FORMER: Program = { version: '0.2.0', commit: 'a'.repeat(40), schema: 12 }
export const NEWER: Program = { version: '0.2.1', commit: 'b'.repeat(40), schema: 13 }
const CHANGES = '# Changelog\n\n## 0.2.1 - 2026-12-01\n\n- A fix.\n\n## 0.2.0 - 2026-11-25\n\n- The first.\n'

export class Killed extends Error {}

/** Imitates steps in the data directory, whose database is a text. */
function imitateStep(step: OwnerStep): unknown {
  const copies = readdirSync(step.dataDir).filter((name) => name.endsWith('.bak'))
  if (step.step === 'list') return { copies, bytes: 0 }
  if (step.step === 'count') return { copy: copies[0], documents: 0, claims: 0, corrections: 0, keys: 0 }
  if (step.step === 'use') {
    copyFileSync(join(step.dataDir, step.copy), join(step.dataDir, 'cambista.db'))
    return 'cambista.db.later'
  }
  assert.equal(step.step, 'return')
  const [copy] = copies.filter((name) => step.step === 'return' && !step.copies.includes(name))
  if (copy === undefined) return null
  rmSync(join(step.dataDir, 'cambista.db-wal'))
  renameSync(join(step.dataDir, copy), join(step.dataDir, 'cambista.db'))
  return null
}

/**
 * A machine with the service of FORMER and a release of `program`. `lastCommand`: number of the command that is the last.
 * `shared`: schema of a database that nodes share.
 */
export function imitateMachine(
  t: TestContext,
  program: Program,
  { lastCommand = Number.POSITIVE_INFINITY, shared }: { lastCommand?: number; shared?: number } = {},
) {
  const root = temporaryDirectory(t)
  const at = (path: string) => join(root, path)
  mkdirSync(at('/etc'))
  writeFileSync(at('/etc/passwd'), `cambista:x:${process.getuid?.()}:${process.getgid?.()}::/:/bin/false\n`)
  const printed: string[] = []
  let running: Program | undefined
  let isStarting = false
  let commands = Number.NEGATIVE_INFINITY // while the test prepares the machine
  const describe = (path: string): Program => JSON.parse(readFileSync(path, 'utf8'))
  const isOnProbation = () =>
    existsSync(at(PROBATION_PATH)) && recorded().program.version === running?.version
  const recorded = (): Probation => JSON.parse(readFileSync(at(PROBATION_PATH), 'utf8'))

  /** Starts the unit; systemd starts it again when the step before the start fails. */
  const start = (isAgain = false): CommandResult => {
    running = undefined
    if (existsSync(at(DROP_IN))) {
      try {
        isStarting = true
        settleUpgrade(place)
        isStarting = false
      } catch (error) {
        if (isAgain || error instanceof Killed) throw error
        start(true)
        return { status: 1, text: 'Job for cambista.service failed.' }
      }
    }
    const now = describe(at(EXECUTABLE))
    if (shared === undefined) migrate(now.schema)
    if (now.fate === 'broken') return { status: 1, text: 'Job for cambista.service failed.' }
    running = now
    return { status: 0, text: '' }
  }
  const migrate = (schema: number) => {
    const before = Number(readFileSync(at(DATABASE), 'utf8'))
    assert.ok(before <= schema, `a program of schema ${schema} over a database of schema ${before}`)
    if (before === schema) return
    const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
    copyFileSync(at(DATABASE), `${at(DATABASE)}.v${before}-${time}Z.bak`)
    writeFileSync(at(DATABASE), String(schema))
    writeFileSync(`${at(DATABASE)}-wal`, `of schema ${schema}`)
  }
  const systemctl = ([word]: readonly string[]): CommandResult => {
    if (word === 'restart') return start()
    if (word === 'stop') running = undefined
    if (word === 'is-enabled') return { status: 0, text: 'enabled' }
    if (word === 'is-active')
      return { status: 0, text: running ? 'active' : isStarting ? 'activating' : 'failed' }
    return { status: 0, text: '' }
  }
  const health = (): CommandResult => {
    if (running?.fate === 'crashing' && isOnProbation()) start()
    if (!running || running.fate === 'silent') return { status: 1, text: 'not ready' }
    return {
      status: 0,
      text: `ready${isOnProbation() && running.fate !== 'writing' ? '; on probation after an upgrade' : ''}`,
    }
  }
  const place: Machine = {
    root,
    live: true,
    run(command, words) {
      commands += 1
      if (commands > lastCommand) throw new Killed()
      if (command === 'systemctl') return systemctl(words)
      if (command === 'journalctl') return { status: 1, text: '' }
      if (words[0] === '--version' && !existsSync(command)) return { status: undefined, text: '' }
      if (words[0] === '--version') return { status: 0, text: JSON.stringify(describe(command)) }
      if (words[0] === 'upgrade' && describe(command).fate === 'early')
        return { status: 2, text: 'cambista: there is no command "upgrade"' }
      if (words[1] === '--data')
        return { status: 0, text: JSON.stringify(imitateStep(JSON.parse(words[2] ?? ''))) }
      if (words[0] === 'database') {
        assert.deepEqual(words, ['database', 'upgrade', '--dry-run', '--json'])
        const plan = { database: 'db.example/cambista', from: shared, to: describe(command).schema }
        return { status: 0, text: `${JSON.stringify(plan, null, 2)}\na warning of the command` }
      }
      if (words[0] === 'upgrade') return { status: 0, text: CHANGES }
      if (words[0] === 'healthcheck') return health()
      if (words[0] === 'backup') return { status: 0, text: '' }
      assert.deepEqual(words, ['service', 'install'])
      if (describe(command).fate === 'uninstallable')
        return { status: 1, text: 'cambista: there is no user cambista' }
      try {
        installService({ ...place, print: () => {} }, command)
        return { status: 0, text: 'installed' }
      } catch (error) {
        if (error instanceof Killed) throw error
        return { status: 1, text: String(error) }
      }
    },
    print: (line) => printed.push(line),
  }
  /** Lets the killed process of `upgrade` be dead. From now on nothing is killed. */
  const endUpgrader = () => {
    lastCommand = Number.POSITIVE_INFINITY
    if (!existsSync(at(PROBATION_PATH))) return
    const record = { ...recorded(), upgrader: { pid: 1, startTime: '-' } }
    writeFileSync(at(PROBATION_PATH), JSON.stringify(record))
  }
  const former = at('former')
  writeFileSync(former, JSON.stringify(FORMER))
  mkdirSync(at('/var/lib/cambista'), { recursive: true })
  writeFileSync(at(DATABASE), String(FORMER.schema))
  installService(place, former)
  if (shared !== undefined)
    appendFileSync(at(SETTINGS_FILE), 'CAMBISTA_DATABASE=postgres://db.example/cambista\n')
  commands = 0
  printed.length = 0
  const folder = at('release/cambista-linux-x64')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'cambista')
  /** Writes a program and its signed sums over the release. */
  const publish = (released: Program) => {
    writeFileSync(file, JSON.stringify(released))
    const sums = `${createHash('sha256').update(readFileSync(file)).digest('hex')}  cambista-linux-x64\n`
    writeFileSync(at('release/SHA256SUMS'), sums)
    const comment = `cambista ${released.version}, commit ${released.commit}`
    const signature = signContent(readSecretKey(pair.secretKey), Buffer.from(sums), comment)
    writeFileSync(at('release/SHA256SUMS.minisig'), signature)
  }
  publish(program)
  return {
    ...{ place, at, file, printed, publish, recorded },
    upgrade: () => upgradeService(place, { file, sums: undefined, key }, NEVER),
    goBack: (how = { losesData: false }, answer?: string) => {
      const input = () => Object.assign(Readable.from(`${answer}\n`), { isTTY: true })
      const terminal = { input, interactive: answer !== undefined, stop: NEVER, err() {} }
      return goBack(place, terminal as unknown as Terminal, how)
    },
    running: () => running,
    commands: () => commands,
    /** Kills the process after `count` further commands. */
    killAfter(count: number) {
      lastCommand = commands + count
    },
    endUpgrader,
    restartAfterKill() {
      endUpgrader()
      start()
    },
    /** Returns the installed version, and the schema of the database. */
    state: () => ({
      version: describe(at(EXECUTABLE)).version,
      schema: Number(readFileSync(at(DATABASE), 'utf8')),
      copies: readdirSync(at('/var/lib/cambista')).filter((name) => name.endsWith('.bak')).length,
      wal: existsSync(`${at(DATABASE)}-wal`),
    }),
    isSettled: () => ![PROBATION_PATH, RETURN_PATH, DROP_IN].some((path) => existsSync(at(path))),
  }
}
