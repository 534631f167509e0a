// Finds and loads commands. A file is loaded when one of its commands is called, so that no start reads the code of the
// others. The groups of the help are in help.txt.

import type { Command } from './command.ts'

/** Names of commands by their file in commands/. */
const FILES: Record<string, readonly string[]> = {
  demo: ['demo'],
  'server/serve': ['serve'],
  sync: ['sync'],
  'access/web': ['web'],
  'mcp/mcp': ['mcp'],
  'server/service': ['service install', 'service uninstall', 'service print'],
  'certificates/cert': ['cert create'],
  'certificates/intercept-cert': ['compat cert'],
  'server/healthcheck': ['healthcheck'],
  'server/doctor': ['doctor'],
  'metrics/metrics': ['metrics rules', 'metrics dashboard'],
  'access/key': ['key create', 'key list', 'key revoke', 'key rotate'],
  'access/session': ['session list', 'session end'],
  'access/token': ['token create', 'token update', 'token list', 'token revoke', 'token rotate'],
  'directory/company': ['company create', 'company update', 'company list'],
  'directory/owner': ['owner create', 'owner list'],
  'directory/agent': ['agent create', 'agent activate', 'agent deactivate', 'agent list'],
  'directory/directory': ['directory import', 'directory export'],
  'documents/document': [
    ...['document list', 'document show', 'document export', 'document retry', 'document set'],
  ],
  'documents/recognise': ['document recognise'],
  'documents/removal': ['document delete', 'document purge'],
  'documents/event': ['event list'],
  'hooks/hook': ['hook create', 'hook list', 'hook rotate', 'hook delete'],
  'hooks/deliveries': ['hook deliveries', 'hook redeliver'],
  'hooks/test': ['hook test'],
  'mail/mailbox': ['mailbox create', 'mailbox update'],
  'mail/mailbox-commands': [
    'mailbox list',
    'mailbox show',
    'mailbox pause',
    'mailbox resume',
    'mailbox delete',
    'mailbox forget',
  ],
  'mail/test': ['mailbox test'],
  'rates/provider': ['provider list', 'provider enable', 'provider disable'],
  'rates/series': ['series list', 'series enable', 'series disable'],
  'rates/revision': ['revision list'],
  'rates/export': ['export'],
  'rates/import': ['import'],
  'rates/discard': ['rates discard'],
  'rates/statement': ['statement verify'],
  'indicators/indicator': ['indicator list', 'indicator enable', 'indicator disable'],
  backup: ['backup create', 'backup verify'],
  'backup-restore': ['backup restore'],
  'database/cluster': ['cluster import'],
  'database/database': ['database upgrade', 'database restored', 'database accept-loss'],
  verify: ['verify'],
  upgrade: ['upgrade'],
  manual: ['manual'],
  example: ['example'],
  completion: ['completion'],
  version: ['version'],
}

const FILE_BY_NAME = new Map(
  Object.entries(FILES).flatMap(([file, names]) => names.map((name) => [name, file] as const)),
)

export const COMMAND_NAMES: readonly string[] = [...FILE_BY_NAME.keys()]

/** @throws TypeError for a name that is not in the list, or whose file lacks it */
export async function loadCommand(name: string): Promise<Command> {
  // The bundler makes a chunk of each file in commands/.
  const exports: Record<string, unknown> = await import(`./commands/${FILE_BY_NAME.get(name)}.ts`)
  const command = Object.values(exports).find((one) => isCommand(one) && one.name === name)
  if (!command) throw new TypeError(`no command ${name} in its file`)
  return command as Command
}

/** Loads every command, for the help of the program and the completion. */
export function loadCommands(): Promise<Command[]> {
  return Promise.all(COMMAND_NAMES.map(loadCommand))
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && 'run' in value && 'name' in value
}
