// What options are for, in Spanish. A provider brings the texts of its own options (providers/provider.ts).

import type { GROUPS } from '../../commands.ts'
import type { ProviderOption } from '../../option-names.ts'
import type { OptionName } from '../../options.ts'

/** The options of the program itself. */
export type NamedOption = Exclude<OptionName, ProviderOption>

type AnyCommand = (typeof GROUPS)[number]['commands'][number]
type OwnOf<One> = One extends { own?: infer Own } ? keyof Exclude<Own, undefined> : never
/** Each command with options of its own, and a text for each of these. */
type OwnTexts = {
  [One in AnyCommand as OwnOf<One> extends never ? never : One['name']]: Record<OwnOf<One>, string>
}

export const OPTION_HELP: Record<NamedOption, string> = {
  host: 'dirección en la que escucha',
  port: 'puerto en el que escucha; con 0 toma uno que esté libre',
  'also-listen':
    'responde también en esta dirección con los formatos de otros servicios, por ejemplo https://0.0.0.0:443; se repite la opción para cada una',
  'data-dir': 'directorio de la base de datos; se crea si no existe',
  'no-scheduler': 'no sincroniza por su cuenta; para un cron externo que ejecute `cambista sync`',
  'backfill-from': 'primer día de la historia que se descarga',
  'max-body': 'tamaño máximo de una carga, por ejemplo 500MiB',
  'min-free': 'espacio en disco que las cargas dejan libre',
  'max-uploads': 'cargas simultáneas; las demás esperan su turno un momento',
  'tls-cert':
    'sirve HTTPS con este certificado y su cadena, en formato PEM; se vuelve a leer cuando el archivo cambia. Si se repite, cada uno vale para sus nombres',
  'tls-key':
    'llave privada del certificado; tantas como certificados y en el mismo orden; en la variable, separadas por comas',
  'trust-proxy':
    'proxies en cuyos X-Forwarded-For, -Proto y -Host se confía, por ejemplo 10.0.0.0/8 o loopback, separados por comas, o any para todos',
  'cors-origin':
    'sitios web que pueden llamar desde un navegador, por ejemplo https://erp.example.com, separados por comas, o * para cualquiera',
  'host-name':
    'nombres con los que los navegadores abren la página, por ejemplo rates.example.com, separados por comas; las direcciones, localhost y el nombre de esta máquina ya se conocen',
  'open-rates':
    'redes cuyos programas obtienen tipos de cambio sin clave en los formatos de otros servicios, separadas por comas, o any para cualquiera',
  'serve-rounded': 'responde también valores redondeados en estos formatos, con el encabezado X-Rounded-To',
  'no-compat': 'no responde en los formatos de otros servicios',
  'backup-dir':
    'respalda cada noche en este juego de respaldos, en otro disco; sin esta opción no se respalda',
  'backup-cron': 'cuándo se hace el respaldo, en hora de Costa Rica',
  'backup-keep':
    'cuántos respaldos se conservan en el juego; los más antiguos se eliminan cuando ya se verificó uno nuevo',
  'keep-events': 'por cuántos días se conserva el registro de quién tomó, terminó o eliminó cada documento',
  'max-attempts': 'tras cuántas tomas que ningún proceso terminó se da por fallido un documento',
  metrics:
    'muestra métricas para Prometheus en /metrics, a los clientes de esta máquina que no llegan por un proxy',
  'metrics-port':
    'las muestra en este otro puerto, a todo cliente que lo alcance; con 0 toma uno que esté libre',
  'metrics-host': 'dirección de ese puerto',
  'log-format': 'text o json',
  'log-level': 'debug, info, warn o error',
  database:
    'la base de datos PostgreSQL que comparten los nodos, por ejemplo postgres://cambista@db.example.com/cambista, en lugar del directorio de datos',
  'database-file': 'archivo que contiene esa URL, para una que lleva contraseña',
  'no-migrate': 'no crea ni cambia las tablas de esa base de datos',
  'stale-for':
    'por cuánto tiempo se responden tipos de cambio mientras no está disponible, por ejemplo 90s, 5m o 1h',
  blobs:
    'dónde están los contenidos de los documentos junto a esa base de datos: s3://BUCKET/PREFIX, o un directorio con --blobs-shared',
  'blobs-shared': 'ese directorio lo ven todos los nodos, por ejemplo por NFS',
  's3-endpoint': 'dirección de un almacén S3 que no es de AWS',
  's3-region': 'región del bucket; si no se indica, la de AWS_REGION',
  'hook-key-file':
    'archivo con la llave de los secretos de los hooks en esa base de datos, por ejemplo la que da openssl rand -base64 32; la misma para todos los nodos',
  'keep-removed':
    'por cuántos días se conservan los contenidos eliminados junto a esa base de datos, que puede volver a un momento anterior',
  from: 'primer día del rango que se lee',
  to: 'último día del rango que se lee',
  series: 'solo esta serie',
  refined: 'muestra en cambio los valores redondeados que pasaron a ser exactos',
  discarded: 'muestra en cambio los que eliminó cambista rates discard',
  since: 'solo lo que se reemplazó en este día o después',
  id: 'su id, por ejemplo el que ya tiene en el ERP; si no se indica, el siguiente libre',
  name: 'su nombre',
  key: 'una clave de la API de tipos de cambio',
  token: 'un token de la API de documentos',
  'key-file': 'archivo con una clave, un token o ambos, uno por línea',
  code: 'su código de servicio, que ninguna otra empresa tiene',
  company: 'id de la empresa',
  agent: 'id del agente',
  state: 'solo los que están en este estado',
  document: 'solo los de este documento',
  quota: 'cuánto pueden ocupar sus documentos en total, por ejemplo 10GiB; none: sin límite',
  description: 'para qué sirve el agente; los clientes lo leen como texto simple',
  inactive: 'lo crea inactivo: no aparece en las listas y no recibe documentos',
  allow:
    'documents:POST, agent:POST, documents:GET, documents:CLAIM, documents:DELETE; se repite la opción para cada permiso',
  expires: 'último día de validez, en Costa Rica; si no se indica, no vence',
  'in-url':
    'para programas que solo pueden enviarla en la dirección o en un formulario; da acceso a los tipos de cambio y a nada más',
  side: 'compra o venta: qué tipo de cambio del dólar se da en los formatos que tienen uno solo',
  'secret-from': 'registra el token que está en este archivo, uno antiguo del banco, en vez de crear uno',
  network: 'dónde están los programas que la envían, por ejemplo 10.0.0.0/8',
  event: 'document.created, rates.published, sync.failed; varios se separan por comas o se repite la opción',
  overlap:
    'por cuánto tiempo sigue valiendo el secreto anterior, por ejemplo 30m, 24h o 7d; con 0 deja de valer ya',
  out: 'escribe en este archivo nuevo; uno que ya exista nunca se sobrescribe',
  limit: 'cuántos como máximo',
  after: 'solo los que tienen un id mayor, para continuar donde terminó la lista anterior',
  before: 'solo los que tienen un id menor, para continuar donde terminó la lista anterior',
  'older-than': 'solo lo que se cargó hace al menos esta cantidad de días (de 24 horas)',
  format: 'csv o ndjson',
  bccr: 'ARCHIVO es uno de los que da el sitio web del Banco Central',
  indicator:
    'código en el banco del indicador que tiene ARCHIVO, por ejemplo 318; si no se indica, lo dicen sus títulos',
  decimal:
    'comma (coma) o point (punto): el signo decimal de los números que son texto, cuando ellos no lo dicen',
  exact: 'sus valores son los publicados, sin redondear a los decimales que muestra',
  replace:
    'reemplaza también valores exactos por los del archivo; el valor anterior se conserva como revisión',
  yes: 'no pregunta',
  'dry-run': 'solo dice qué se eliminaría',
  url: 'dirección del servidor; si no se indica, la de --host y --port',
  fresh: 'falla también si la compra o la venta del dólar tiene más de dos días de antigüedad',
  wait: 'reintenta durante este tiempo',
  pid: 'deja de esperar cuando este proceso del servidor haya terminado',
  root: 'para imágenes y pruebas: usa los archivos que están debajo de DIR, sin iniciar ni detener nada',
  'low-ports':
    'imprime en cambio el complemento (drop-in) de la unidad que le permite usar puertos menores que 1024, como 80 y 443',
  force: 'también para otros hosts',
  'without-damaged': 'omite los contenidos que faltan o están alterados; código de salida 3',
  'read-all': 'lee todos los contenidos que los nodos comparten, y los compara con su hash',
  repair:
    'elimina contenidos que no pertenecen a ningún documento y archivos temporales; el servidor debe estar detenido',
  json: 'imprime un solo documento JSON',
}

export const OWN_OPTIONS: OwnTexts = {
  web: { url: 'dirección de la página en el navegador; si no se indica, la del servidor en marcha' },
  'hook create': { url: 'dirección a la que se avisa; https, salvo en esta misma máquina' },
  healthcheck: { 'data-dir': 'pregunta al servidor que usa este directorio de datos' },
  mcp: { url: 'dirección del servidor al que se pregunta' },
  migrate: {
    to: 'la PostgreSQL a la que van los datos; si no se indica, la de --database o --database-file',
  },
  'database migrate': { 'dry-run': 'solo imprime el SQL' },
  'rates discard': { after: 'último día que se conserva: mañana o un día posterior' },
  import: { 'dry-run': 'solo cuenta lo que se guardaría' },
  'cert create': {
    host: 'nombre o dirección IP con que preguntan los clientes; varios se separan por comas o se repite la opción',
    out: 'directorio para cert.pem y key.pem; se crea si no existe',
  },
  'compat cert': {
    host: 'host al que se sustituye, por ejemplo gee.bccr.fi.cr; varios se separan por comas o se repite la opción',
    out: 'directorio para ca.pem, cert.pem y key.pem; se crea si no existe',
  },
}
