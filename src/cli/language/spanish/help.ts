// The help in Spanish. What is typed stays as it is; what stands for a value is Spanish too (`NOMBRE` for `NAME`).

import { PROVIDERS } from '../../../providers/list.ts'
import { misuseOf } from '../../advice.ts'
import type { Command } from '../../command.ts'
import type { GROUPS } from '../../commands.ts'
import type { HelpTexts } from '../../help.ts'
import type { OptionName } from '../../options.ts'
import { SETTINGS_FILE } from '../../settings.ts'
import { ABOUTS } from './abouts.ts'
import { type CommandName, EXAMPLES, SUMMARIES } from './commands.ts'
import { misuseText } from './misuse.ts'
import { OPTION_HELP, OWN_OPTIONS } from './options.ts'
import { placeholder } from './placeholders.ts'

type Title = (typeof GROUPS)[number]['title']

const names = new Intl.ListFormat('es').format(PROVIDERS.map(({ name }) => name))

const TITLES: Record<Title, string> = {
  'Run it': 'Ponerlo en marcha',
  'Let systemd run it': 'Instalarlo como servicio de systemd',
  'Serve HTTPS': 'Servir por HTTPS',
  'See whether all is well': 'Comprobar que todo esté bien',
  'Watch it with Prometheus and Grafana': 'Vigilarlo con Prometheus y Grafana',
  'Let programs ask for rates': 'Dar acceso a los tipos de cambio',
  'Let programs send and read documents': 'Dar acceso a los documentos',
  'Name companies, owners and agents': 'Registrar empresas, propietarios y agentes',
  'See, retry and delete documents': 'Ver, reintentar y eliminar documentos',
  'Tell other programs what happens': 'Avisar a otros programas',
  'Choose the rates, see their corrections': 'Elegir los tipos de cambio y ver sus correcciones',
  'Back up and restore': 'Respaldar y restaurar',
  'Let several machines share the data': 'Compartir los datos entre varias máquinas',
  'This program': 'Este programa',
}

export const SPANISH: HelpTexts = {
  title: () => `tipos de cambio del ${names}, y documentos para agentes de IA`,
  usage: 'Uso',
  command: 'COMANDO',
  flags: 'opciones',
  closing: `cambista COMANDO --help explica un comando en detalle y cambista manual imprime textos más extensos (cambista manual
leame, en español). Con cambista completion bash (o zsh), la terminal completa comandos y opciones.

Donde esté instalado el servicio, su configuración en ${SETTINGS_FILE} también se aplica; las variables de
entorno tienen prioridad sobre ella, y las opciones, sobre ambas.

Los resultados salen por stdout y los mensajes por stderr. Códigos de salida: 0 si todo terminó bien, 1 si hubo un
error, 2 si el comando está mal escrito, 3 si se completó solo en parte (una sincronización que terminó en «parcial»,
una restauración incompleta).`,
  heading:
    'Opciones (las que no llevan * son también variables de entorno: --data-dir es CAMBISTA_DATA_DIR):',
  clusterHeading: 'Opciones de varios nodos con una misma base de datos (cambista manual cluster):',
  ofHelp: 'muestra este texto',
  example: 'Ejemplo',
  titleOf: ({ title }) => TITLES[title as Title],
  textsOf: ({ name, example }) => ({
    summary: SUMMARIES[name as CommandName],
    about: (ABOUTS as Record<string, string>)[name],
    example: EXAMPLES[name as CommandName] ?? example,
  }),
  optionHelp: helpOfOption,
  fallback: (text) => `por defecto: ${text}`,
  misuseText(error) {
    const misuse = misuseOf(error)
    return misuse && misuseText(misuse)
  },
  tryHelp: (command) => `La ayuda está en cambista --help y en cambista ${command} --help.\n`,
  placeholder,
}

function helpOfOption({ name: command, own }: Command, name: OptionName): string {
  if (own?.[name]) return (OWN_OPTIONS as Record<string, Record<string, string>>)[command]?.[name] ?? ''
  return (OPTION_HELP as Record<string, string>)[name] ?? helpOfProviders(name)
}

/** A provider brings the texts of its options itself. */
function helpOfProviders(name: string): string {
  const settings = PROVIDERS.flatMap(({ settings: { schedule, url, pace, token } }) => [
    schedule,
    url,
    pace,
    ...(token ? [token] : []),
  ])
  return settings.find(({ option }) => option === name)?.spanish ?? ''
}
