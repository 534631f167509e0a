import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { examine, type Repaired, repair } from '../../domain/doctor/doctor.ts'
import { PROVIDERS } from '../../providers/list.ts'
import { inWords } from '../advice.ts'
import { command, printResult } from '../command.ts'
import { becomeOwner } from '../data-dir.ts'
import { progressOf } from '../progress.ts'

const LOOK_AGAIN_MS = 5000

export const doctor = command({
  name: 'doctor',
  positionals: [],
  summary: 'check the data directory: database, documents, rates, permissions, space, backups',
  about: `It only looks, and may run beside the server. A line for each finding, and exit code 1 if there is any; notes are only
worth knowing. Every document is read, so it takes its time.

--repair first removes what a crash left: contents that belong to no document, and temporary files, as a start of the
server does; and it adds up anew what counts against quotas. Nothing else is ever changed. It needs the server to be
stopped.`,
  options: ['repair', 'data-dir', 'min-free', 'backup-dir', 'backup-cron', 'json'],
  changesData: false,
  example: 'cambista doctor --data-dir /var/lib/cambista',
  async run({ options, terminal }) {
    const dataDir = resolve(options['data-dir'])
    const backupDir = options['backup-dir']
    becomeOwner(dataDir)
    let repaired: Repaired | undefined
    if (options.repair) repaired = await repair(dataDir)
    const line = progressOf(terminal)
    const found = await examine({
      dataDir,
      clock: () => new Date(),
      providers: PROVIDERS,
      minFree: options['min-free'],
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      backup: !backupDir ? undefined : { dir: backupDir, cron: options['backup-cron'] },
      signal: terminal.stop,
      beforeSecondLook: (signal) => wait(LOOK_AGAIN_MS, undefined, { signal }),
      progress: (done) => line.show(`${done} contents`),
    }).finally(line.clear)
    const notes = found.notes.map(inWords)
    const findings = found.findings.map((one) => ({ check: one.check, message: inWords(one) }))
    const lines = [
      ...(repaired
        ? [`repaired: ${repaired.contents} contents and ${repaired.temporary} temporary files removed`]
        : []),
      ...notes.map((text) => `note     ${text}`),
      ...findings.map(({ check, message }) => `FINDING  ${check}: ${message}`),
      findings.length === 0 ? 'no findings' : `${findings.length} finding${findings.length === 1 ? '' : 's'}`,
    ]
    printResult(terminal, options, { data_dir: dataDir, findings, notes, repaired: repaired ?? null }, lines)
    return findings.length === 0 ? 0 : 1
  },
})
