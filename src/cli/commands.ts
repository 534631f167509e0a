// The list of commands, in groups of what one wants to do: the help, the parser and the completion are made from it.

import type { Command } from './command.ts'
import { backupCreate, backupVerify } from './commands/backup.ts'
import { backupRestore } from './commands/backup-restore.ts'
import { certCreate } from './commands/certificates/cert.ts'
import { compatCert } from './commands/certificates/stand-in.ts'
import { completionOf } from './commands/completion.ts'
import { databaseMigrate, databaseRestored } from './commands/database/database.ts'
import { migrate } from './commands/database/move.ts'
import { demo } from './commands/demo.ts'
import { agentActivate, agentCreate, agentDeactivate, agentList } from './commands/directory/agent.ts'
import { companyCreate, companyList, companyUpdate } from './commands/directory/company.ts'
import { directoryExport, directoryImport } from './commands/directory/directory.ts'
import { ownerCreate, ownerList } from './commands/directory/owner.ts'
import { doctor } from './commands/doctor.ts'
import { documentExport, documentList, documentShow } from './commands/documents/document.ts'
import { eventList } from './commands/documents/event.ts'
import { documentDelete, documentPurge } from './commands/documents/removal.ts'
import { documentRetry } from './commands/documents/retry.ts'
import { healthcheck } from './commands/healthcheck.ts'
import { hookCreate, hookDelete, hookList, hookRotate } from './commands/hooks/hook.ts'
import { hookTest } from './commands/hooks/test.ts'
import { keyCreate, keyList, keyRevoke, keyRotate } from './commands/key.ts'
import { manual } from './commands/manual.ts'
import { mcp } from './commands/mcp/mcp.ts'
import { metricsDashboard, metricsRules } from './commands/metrics/metrics.ts'
import { ratesDiscard } from './commands/rates/discard.ts'
import { ratesExport } from './commands/rates/export.ts'
import { ratesImport } from './commands/rates/import.ts'
import { providerDisable, providerEnable, providerList } from './commands/rates/provider.ts'
import { revisionList } from './commands/rates/revision.ts'
import { seriesDisable, seriesEnable, seriesList } from './commands/rates/series.ts'
import { serve } from './commands/serve.ts'
import { sync } from './commands/sync.ts'
import { tokenCreate, tokenList, tokenRevoke, tokenRotate, tokenUpdate } from './commands/token.ts'
import { version } from './commands/version.ts'
import { web } from './commands/web.ts'
import { serviceInstall, servicePrint, serviceUninstall } from './service/service.ts'

export type CommandGroup = { title: string; commands: readonly Command[] }

export const GROUPS = [
  { title: 'Run it', commands: [demo, serve, sync, web, mcp] },
  { title: 'Let systemd run it', commands: [serviceInstall, serviceUninstall, servicePrint] },
  { title: 'Serve HTTPS', commands: [certCreate, compatCert] },
  { title: 'See whether all is well', commands: [healthcheck, doctor] },
  { title: 'Watch it with Prometheus and Grafana', commands: [metricsRules, metricsDashboard] },
  { title: 'Let programs ask for rates', commands: [keyCreate, keyList, keyRevoke, keyRotate] },
  {
    title: 'Let programs send and read documents',
    commands: [tokenCreate, tokenUpdate, tokenList, tokenRevoke, tokenRotate],
  },
  {
    title: 'Name companies, owners and agents',
    commands: [
      companyCreate,
      companyUpdate,
      companyList,
      ownerCreate,
      ownerList,
      agentCreate,
      agentActivate,
      agentDeactivate,
      agentList,
      directoryImport,
      directoryExport,
    ],
  },
  {
    title: 'See, retry and delete documents',
    commands: [
      documentList,
      documentShow,
      documentExport,
      documentRetry,
      documentDelete,
      documentPurge,
      eventList,
    ],
  },
  {
    title: 'Tell other programs what happens',
    commands: [hookCreate, hookList, hookTest, hookRotate, hookDelete],
  },
  {
    title: 'Choose the rates, see their corrections',
    commands: [
      providerList,
      providerEnable,
      providerDisable,
      seriesList,
      seriesEnable,
      seriesDisable,
      revisionList,
      ratesExport,
      ratesImport,
      ratesDiscard,
    ],
  },
  { title: 'Back up and restore', commands: [backupCreate, backupVerify, backupRestore] },
  { title: 'Let several machines share the data', commands: [migrate, databaseMigrate, databaseRestored] },
  { title: 'This program', commands: [manual, completionOf(() => COMMANDS), version] },
] as const satisfies readonly CommandGroup[]

export const COMMANDS: readonly Command[] = GROUPS.flatMap<Command>(({ commands }) => commands)
