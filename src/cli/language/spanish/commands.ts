// What each command does, in Spanish, in one line; and examples that have words of a language.

import type { GROUPS } from '../../commands.ts'

export type CommandName = (typeof GROUPS)[number]['commands'][number]['name']

export const SUMMARIES: Record<CommandName, string> = {
  demo: 'para probarlo: un servidor desechable con tipos de cambio inventados de 47 monedas desde 1983, y una empresa',
  serve: 'sirve las API y mantiene al día los tipos de cambio',
  sync: 'descarga ya los tipos de cambio: primero lo nuevo y luego lo que falta; o exactamente de --from a --to',
  web: 'imprime un enlace que abre la página con la sesión iniciada, una sola vez',
  mcp: 'habla MCP por stdin y stdout, para un agente de IA de esta máquina',
  'service install':
    'instala este ejecutable como servicio de systemd y lo inicia; se ejecuta de nuevo tras cada actualización',
  'service uninstall':
    'detiene el servicio y quita su unidad; los datos, la configuración, el usuario y el ejecutable se conservan',
  'service print': 'imprime la unidad de systemd que escribe service install',
  'cert create': 'crea un certificado autofirmado para HTTPS, con su llave',
  'compat cert':
    'crea un certificado para responder en lugar del host del banco, y la autoridad (CA) en la que hay que confiar',
  healthcheck:
    'pregunta a un servidor en marcha si está listo: código de salida 0, o 1 con la razón por la que no lo está',
  doctor:
    'revisa el directorio de datos: base de datos, documentos, tipos de cambio, permisos, espacio y respaldos',
  'metrics rules': 'imprime reglas de alerta para Prometheus, en YAML',
  'metrics dashboard': 'imprime un tablero para Grafana, como JSON para importar o aprovisionar',
  'key create': 'crea una clave de la API de tipos de cambio; se muestra solo esta vez',
  'key list': 'lista las claves, sin sus secretos',
  'key revoke': 'revoca una clave; un servidor en marcha la rechaza en menos de un segundo',
  'key rotate':
    'da a una clave un secreto nuevo, que se muestra solo esta vez; el anterior sigue valiendo un tiempo',
  'token create': 'crea un token de la API de documentos; se muestra solo esta vez',
  'token update': 'fija cuánto pueden ocupar en total los documentos que carga un token',
  'token list': 'lista los tokens, sin sus secretos',
  'token revoke': 'revoca un token; un servidor en marcha lo rechaza en menos de un segundo',
  'token rotate':
    'da a un token un secreto nuevo, que se muestra solo esta vez; el anterior sigue valiendo un tiempo',
  'company create': 'crea una empresa; con --id, el mismo comando puede repetirse',
  'company update': 'fija cuánto pueden ocupar en total los documentos de una empresa',
  'company list': 'lista las empresas',
  'owner create': 'crea un propietario de documentos, de una empresa o (sin --company) de cualquiera',
  'owner list': 'lista los propietarios, de todas las empresas o de una',
  'agent create': 'crea un agente de IA de una empresa; con --id, el mismo comando puede repetirse',
  'agent activate': 'hace que un agente vuelva a aparecer en las listas y a recibir documentos',
  'agent deactivate':
    'hace que un agente deje de aparecer en las listas y de recibir documentos; los que tiene se pueden seguir leyendo',
  'agent list': 'lista los agentes, de todas las empresas o de una, también los inactivos',
  'directory import':
    'guarda las empresas, los propietarios y los agentes de un archivo .json o .csv, por id; todo o nada',
  'directory export':
    'imprime todas las empresas, los propietarios y los agentes como el JSON que lee directory import',
  'document list':
    'lista documentos por id, de todas las empresas o de una, de un solo agente, en un estado; una página a la vez',
  'document show': 'muestra los datos de un documento, sin su contenido',
  'document export':
    'escribe el contenido de un documento en stdout o, con --out, en un archivo nuevo; se comprueba su SHA-256',
  'document retry':
    'vuelve a poner un documento como nuevo, para que lo tome el próximo proceso de su agente',
  'document delete':
    'elimina un documento definitivamente, y su contenido si ningún otro documento tiene el mismo',
  'document purge':
    'elimina definitivamente todos los documentos con la antigüedad indicada, de todas las empresas o de una',
  'event list':
    'lista quién tomó, terminó o eliminó cada documento y qué enlaces iniciaron sesión: los eventos más recientes, o todos los de un documento',
  'hook create':
    'avisa a una dirección de lo que ocurre aquí; el secreto con que se firma se muestra solo esta vez',
  'hook list': 'lista los avisos (hooks): de qué se avisa a cada uno, cuántos mensajes esperan y si llegan',
  'hook test': 'envía ya un mensaje de prueba a un hook: código de salida 0 si llega; si no, 1 con la razón',
  'hook rotate':
    'da a un hook un secreto nuevo, que se muestra solo esta vez; el anterior sigue firmando un tiempo',
  'hook delete': 'elimina un hook y lo que espera por él',
  'provider list': 'lista las fuentes de tipos de cambio',
  'provider enable': 'vuelve a sincronizar esta fuente',
  'provider disable': 'deja de sincronizar esta fuente; lo que ya está guardado se sigue sirviendo',
  'series list': 'lista las series: par de monedas, compra o venta, código en el banco y primer día guardado',
  'series enable': 'vuelve a sincronizar esta serie; se descargan los días que le faltan',
  'series disable': 'deja de sincronizar esta serie; lo que ya está guardado se sigue sirviendo',
  'revision list': 'lista los valores publicados que el banco corrigió: cuáles, cuándo, de cuánto a cuánto',
  export:
    'escribe todos los tipos de cambio guardados, y qué días se conocen, en un ARCHIVO nuevo o en stdout',
  import:
    'guarda los tipos de cambio de un archivo de cambista export, para un servidor que no llega al banco',
  'rates discard':
    'elimina los valores y los días conocidos que están guardados para el futuro, que cambista doctor nombra',
  'backup create':
    'respalda la base de datos y los documentos en un juego de respaldos, esté el servidor en marcha o no',
  'backup verify':
    'verifica el respaldo más reciente de un juego, o el que indique DIR: la base de datos y cada byte de los documentos',
  'backup restore':
    'crea un directorio de datos nuevo con el respaldo más reciente de un juego, o con el que indique DIR',
  migrate:
    'traslada un directorio de datos a una base de datos y a un lugar para los contenidos que varios nodos comparten',
  'database migrate':
    'crea las tablas de una base de datos que varios nodos comparten, o las lleva a esta versión',
  'database restored':
    'prepara una base de datos que se restauró a un momento anterior, antes de iniciar ningún nodo',
  manual: 'imprime un tema del manual; sin tema, la lista de los que hay',
  completion: 'imprime lo que hace que la terminal complete comandos y opciones',
  version: 'imprime la versión, igual que --version, -V y -v',
}

export const EXAMPLES: { [name in CommandName]?: string } = {
  'agent create':
    "cambista agent create --company 7 --name Facturas --description '<p>Lee facturas</p>' --id 12",
}
