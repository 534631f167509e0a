import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { examine, type Repaired, repair } from '../../domain/doctor/doctor.ts'
import type { DoctorRequest, Examination } from '../../domain/doctor/examination.ts'
import type { SharedRequest } from '../../domain/doctor/shared.ts'
import { AppError } from '../../errors.ts'
import { isServed } from '../../store/backup/data-dir-files.ts'
import { openContents } from '../../store/blobs/open.ts'
import { openEngine } from '../../store/open-engine.ts'
import type { Place } from '../../store/place.ts'
import { readServerSettings } from '../../store/server-address.ts'
import { inWords } from '../advice.ts'
import { command, printResult } from '../command.ts'
import { becomeOwnerOf } from '../data-dir.ts'
import type { OptionValues } from '../option-values.ts'
import { WHOLE_PLACE } from '../place/options.ts'
import { progressOf } from '../progress.ts'

const LOOK_AGAIN_MS = 5000

export const doctor = command({
  name: 'doctor',
  positionals: [],
  summary: 'check the data directory: database, documents, rates, permissions, space, backups',
  about: `It only looks, and may run beside the server, whose settings it goes by unless a flag says otherwise. A line for each
finding, and exit code 1 if there is any; notes are only worth knowing. Every document is read, so it takes its time; beside a database that nodes share, only with --read-all, and
else it is looked whether each is there.

--repair first removes what a crash left: contents that belong to no document, and temporary files, as a start of the
server does; and it adds up anew what counts against quotas. Nothing else is ever changed. It needs the server to be
stopped. What nodes share they tidy up themselves.`,
  options: [
    'repair',
    'read-all',
    ...WHOLE_PLACE,
    'hook-key-file',
    'min-free',
    'backup-dir',
    'backup-cron',
    'json',
  ],
  changesData: false,
  example: 'cambista doctor --data-dir /var/lib/cambista',
  async run({ options, flags, terminal, place: placeOf }) {
    const place = placeOf()
    const dataDir = resolve(options['data-dir'])
    becomeOwnerOf(place)
    let repaired: Repaired | undefined
    if (options.repair && place.database !== undefined) {
      throw new AppError(
        'usage',
        '--repair is for a data directory: what is left over beside a shared database a node removes by itself, a day later; cambista doctor without it says what is wrong',
      )
    }
    if (options.repair) repaired = await repair(dataDir)
    const line = progressOf(terminal)
    const common = {
      providers: terminal.providers,
      signal: terminal.stop,
      beforeSecondLook: (signal: AbortSignal) => wait(LOOK_AGAIN_MS, undefined, { signal }),
      progress: (done: number) => line.show(`${done} contents`),
    }
    const looked =
      place.database === undefined
        ? examine({
            dataDir,
            clock: () => new Date(),
            ...settingsFor(dataDir, options, flags),
            zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            ...common,
          })
        : lookAtShared(place, { ...common, readAll: options['read-all'], hookKey: place.hookKey })
    const found = await looked.finally(line.clear)
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
    const where = place.database === undefined ? { data_dir: dataDir } : {}
    printResult(terminal, options, { ...where, findings, notes, repaired: repaired ?? null }, lines)
    return findings.length === 0 ? 0 : 1
  },
})

/** Flags win over the settings of the server that runs on the data directory, and those over this command's own. */
function settingsFor(
  dataDir: string,
  options: Pick<OptionValues, 'min-free' | 'backup-dir' | 'backup-cron'>,
  flags: readonly string[],
): Pick<DoctorRequest, 'minFree' | 'backup'> {
  const server = isServed(dataDir) ? readServerSettings(dataDir) : undefined
  const isOwn = (name: string) => server === undefined || flags.includes(name)
  const dir = isOwn('backup-dir') ? options['backup-dir'] : server?.backup?.dir
  const cron = isOwn('backup-cron') ? undefined : server?.backup?.cron
  return {
    minFree: isOwn('min-free') ? options['min-free'] : (server?.minFree ?? options['min-free']),
    backup: !dir ? undefined : { dir, cron: cron ?? options['backup-cron'] },
  }
}

/** Changes nothing, not even an older schema: the error says so. */
async function lookAtShared(
  place: Place,
  request: Omit<SharedRequest, 'engine' | 'contents'>,
): Promise<Examination> {
  const { examineShared } = await import('../../domain/doctor/shared.ts')
  await using parts = new AsyncDisposableStack()
  const engine = parts.adopt(await openEngine(place, { migrate: false }), (one) => one.close())
  const { shared } = parts.use(await openContents(place, engine))
  if (!shared) throw new TypeError('contents beside a database are shared')
  return await examineShared({ engine, contents: shared, ...request })
}
