import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { LEAST_FREE } from '../../../domain/documents/uploads/quotas.ts'
import { isServed } from '../../../domain/operations/backup/data-dir-files.ts'
import { examine, examineShared } from '../../../domain/operations/doctor/doctor.ts'
import type {
  DoctorRequest,
  Examination,
  SharedRequest,
} from '../../../domain/operations/doctor/examination.ts'
import { acceptRates, type RepairResult, repair } from '../../../domain/operations/doctor/repair.ts'
import { refuseNodes } from '../../../domain/operations/move/restored.ts'
import { acceptDamagedPart } from '../../../domain/rates/rate-sums.ts'
import { AppError } from '../../../runtime/errors.ts'
import { type OutgoingProxies, UNUSABLE_PROXY } from '../../../runtime/outgoing-proxies.ts'
import { openBlobStore } from '../../../store/blobs/open-blobs.ts'
import { openEngine } from '../../../store/open-engine.ts'
import { readServerSettings } from '../../../store/server-address.ts'
import type { StorageConfig } from '../../../store/storage-config.ts'
import { sizeText } from '../../../values/sizes.ts'
import { command, printResult } from '../../command.ts'
import { messageWithAdvice } from '../../help/advice.ts'
import { raiseMinFree } from '../../options/min-free.ts'
import { STORAGE_WITH_BLOBS } from '../../options/storage.ts'
import type { OptionValues } from '../../options/values.ts'
import { createProgress } from '../../progress-line.ts'
import { findSecondInstallation } from '../../service/installations.ts'
import { becomeStorageOwner } from '../../storage/data-dir.ts'

const RECHECK_AFTER_MS = 5000

export const doctor = command({
  name: 'doctor',
  positionals: ['[PART]'],
  options: [
    'repair',
    'accept-sums',
    'read-all',
    ...STORAGE_WITH_BLOBS,
    'hook-key-file',
    'min-free',
    'backup-dir',
    'backup-cron',
    'json',
  ],
  async run({ options, flags, positionals: [part], terminal, storage, withDatabase }) {
    const config = storage()
    const dataDir = resolve(options['data-dir'])
    becomeStorageOwner(config)
    let repairResult: RepairResult | undefined
    if (options.repair && config.database !== undefined) {
      throw new AppError(
        'usage',
        '--repair is for a data directory: nodes that share a database clean up by themselves, a day later; run cambista doctor without --repair',
      )
    }
    if (options.repair) repairResult = await repair(dataDir)
    const seriesId = options['accept-sums']
    if ((seriesId === undefined) !== (part === undefined)) {
      throw new AppError(
        'usage',
        'give a series, and its year or the word revisions: --accept-sums SERIES YEAR',
      )
    }
    if (seriesId !== undefined && part !== undefined) {
      if (config.database === undefined) await acceptRates(dataDir, seriesId, part)
      else {
        await refuseNodes(config.database)
        const open = { mustExist: true, anyServer: true }
        await withDatabase(open, (db, { clock }) => acceptDamagedPart(db, { seriesId, part, now: clock() }))
      }
    }
    const minFree = raiseMinFree(options['min-free'], () =>
      terminal.err(`cambista: --min-free is too small: ${sizeText(LEAST_FREE)} count\n`),
    )
    const line = createProgress(terminal)
    const common = {
      providers: terminal.providers,
      signal: terminal.stop,
      beforeRecheck: (signal: AbortSignal) => wait(RECHECK_AFTER_MS, undefined, { signal }),
      progress: (done: number) => line.show(`${done} contents`),
    }
    const examination =
      config.database === undefined
        ? examine({
            dataDir,
            clock: () => new Date(),
            ...serverSettings(dataDir, { ...options, 'min-free': minFree }, flags),
            zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            ...common,
          })
        : examineCluster(config, { ...common, readAll: options['read-all'], hookKey: config.hookKey })
    const result = await examination.finally(line.clear)
    const notes = [...result.notes.map(messageWithAdvice), ...proxyNotes(config.outgoing)]
    const installations = terminal.settingsFile === undefined ? [] : findSecondInstallation()
    const findings = [
      ...result.findings.map((one) => ({ check: one.check, message: messageWithAdvice(one) })),
      ...installations.map((message) => ({ check: 'installation', message })),
    ]
    const lines = [
      ...(repairResult
        ? [
            `repaired: ${repairResult.contents} contents and ${repairResult.temporary} temporary files removed`,
          ]
        : []),
      ...(part === undefined ? [] : [`accepted: series ${seriesId}, ${part}`]),
      ...notes.map((text) => `note     ${text}`),
      ...findings.map(({ check, message }) => `FINDING  ${check}: ${message}`),
      findings.length === 0 ? 'no findings' : `${findings.length} finding${findings.length === 1 ? '' : 's'}`,
    ]
    const location = config.database === undefined ? { data_dir: dataDir } : {}
    printResult(terminal, options, { ...location, findings, notes, repaired: repairResult ?? null }, lines)
    return findings.length === 0 ? 0 : 1
  },
})

function proxyNotes(outgoing: OutgoingProxies | undefined): string[] {
  const { http, https, unusable = [] } = outgoing ?? {}
  return [
    ...Object.entries({ https, http }).flatMap(([scheme, proxy]) =>
      proxy ? [`${scheme} requests go out through the proxy ${proxy.name}`] : [],
    ),
    ...unusable.map((name) => `${name} is not used: ${UNUSABLE_PROXY}`),
  ]
}

/** Returns minimum space and backup plan. Flags win over the running server's settings, and these over the defaults. */
function serverSettings(
  dataDir: string,
  options: Pick<OptionValues, 'min-free' | 'backup-dir' | 'backup-cron'>,
  flags: readonly string[],
): Pick<DoctorRequest, 'minFree' | 'backup'> {
  const server = isServed(dataDir) ? readServerSettings(dataDir) : undefined
  const isGiven = (name: string) => server === undefined || flags.includes(name)
  const dir = isGiven('backup-dir') ? options['backup-dir'] : server?.backup?.dir
  const cron = isGiven('backup-cron') ? undefined : server?.backup?.cron
  return {
    minFree: isGiven('min-free') ? options['min-free'] : (server?.minFree ?? options['min-free']),
    backup: !dir ? undefined : { dir, cron: cron ?? options['backup-cron'] },
  }
}

/** Examines a shared database and blob store. An older schema is not migrated but is an error. */
async function examineCluster(
  config: StorageConfig,
  request: Omit<SharedRequest, 'engine' | 'blobStore'>,
): Promise<Examination> {
  await using parts = new AsyncDisposableStack()
  const engine = parts.adopt(await openEngine(config, { migrate: false, anyServer: true }), (one) =>
    one.close(),
  )
  const blobStore = parts.use(await openBlobStore(config, engine))
  return await examineShared({ engine, blobStore, ...request })
}
