// What the help of a command says beyond its line, in Spanish.

import type { GROUPS } from '../../commands.ts'

type AnyCommand = (typeof GROUPS)[number]['commands'][number]
type AboutOf<One> = One extends { about?: infer About } ? Exclude<About, undefined> : never
/** Each command that says more of itself in English says it here. */
type Abouts = {
  [One in AnyCommand as [AboutOf<One>] extends [never] ? never : One['name']]: string
}

const SET = `DIR es un juego de respaldos: cada respaldo es allí un directorio con su fecha (DIR/2026-11-21T05-00-00Z), con la base
de datos y un manifiesto; los contenidos de los documentos están en DIR/blobs, cada uno una sola vez para todos los
respaldos. Un respaldo interrumpido no llega a tener directorio con fecha, y el siguiente elimina lo que quedó de él.`

const ROTATION = `El secreto nuevo conserva el nombre, el id y todo lo demás del anterior, también su último día de validez si --expires
no indica otro. El anterior sigue valiendo durante --overlap y luego deja de valer por sí solo: es el tiempo para dar
el nuevo a todos los que lo usan. Los secretos de rotaciones anteriores dejan de valer a más tardar en ese momento. Si
un secreto cayó en malas manos, --overlap 0 lo anula de inmediato.`

const NEEDS = `Leen lo que serve muestra con --metrics o --metrics-port (cambista manual logs).`

export const ABOUTS: Abouts = {
  export: `El formato es el de --format; si no se indica, el de la terminación de ARCHIVO (.csv, .ndjson), y si no, CSV:
  provider,series_id,external_code,pair,rate_type,rate_date,
    value,rounded_to,stored_at
En CSV, los días que se conocen están en líneas que empiezan con #. La última línea tiene la cantidad de valores y el
SHA-256 de todas las líneas anteriores: así cambista import sabe si un archivo está completo. El servidor puede seguir
en marcha.`,
  import: `Un archivo alterado, al que le falta el final, o con días posteriores a mañana, se rechaza por completo. Los valores
nuevos se guardan con el instante que dice el archivo, y los días que él conoce se conocen aquí. Los valores
redondeados pasan a ser los del archivo donde este tiene más dígitos. Un valor exacto nunca cambia sin --replace: los
que difieren se cuentan, y el código de salida es 3. El servidor puede seguir en marcha, y lo ve en menos de un
segundo.
Con --bccr, ARCHIVO es uno de los que da el sitio web del Banco Central, un .xlsx o lo mismo en CSV: una fila por día,
una columna por día, o los días del año por años. Los títulos dicen de qué indicador es; si no, --indicator. Entonces se
conocen solo los días que tiene, y sus valores están redondeados a los decimales que muestra.`,
  'rates discard': `Se elimina, en un solo paso, lo que está guardado de los días posteriores a FECHA, de todas las series. Los valores
quedan en el registro: los listan cambista revision list --discarded y /api/v1/revisions?kind=discarded, y una consulta
con un as_of anterior responde lo mismo que antes. El servidor puede seguir en marcha, y lo ve en menos de un segundo;
una sincronización no. Antes de eliminar pregunta; donde no hay terminal necesita --yes.`,
  web: `El enlace inicia la sesión de un navegador con una clave (tipos de cambio), con un token (documentos) o con ambos.
Vale cinco minutos y una sola vez, y la página pregunta antes de usarlo. Los secretos no hacen falta ni se muestran.
La dirección es la del servidor que está en marcha con el directorio de datos; detrás de un proxy, --url indica la
dirección que usan los navegadores.`,
  mcp: `Con --url pregunta a un servidor, y --key-file es un archivo con una clave (tipos de cambio), un token (documentos) o
ambos, uno por línea: todas las herramientas a las que dan acceso. En vez del archivo, la clave puede estar en la variable
CAMBISTA_KEY y el token en CAMBISTA_TOKEN, como los clientes pasan los secretos; el archivo tiene prioridad. Sin --url lee el directorio de datos, o --database,
también junto a un servidor en marcha, y no cambia nada: tipos de cambio y documentos, pero sin esperar ni tomar
documentos. En stdout solo hay mensajes; los problemas se dicen en stderr. Un servidor habla MCP por sí mismo en /mcp.
En cambista manual agents está qué escribir en cada cliente.`,
  'service install': `Crea el usuario de sistema cambista, el directorio de datos /var/lib/cambista, un lugar para respaldos
/var/backups/cambista, la configuración /etc/cambista/cambista.env, un archivo /etc/cambista/bccr-token para el
token del banco, el ejecutable /usr/local/bin/cambista y la unidad; habilita e inicia la unidad, y espera hasta que
esté lista. Lo que ya existe se conserva: solo el ejecutable y la unidad se reemplazan si son distintos. Desde
entonces, todo comando de cambista toma su configuración de /etc/cambista/cambista.env, de modo que trabaja con los
datos del servicio.

Con --backup-dir el servicio hace un respaldo cada noche: DIR se crea si falta, pero no los directorios que lo
contienen; pertenece al usuario cambista y queda anotado en la configuración y en la unidad. Debe estar vacío o ser un
juego de respaldos, y conviene que esté en otro disco.`,
  'cert create': `DIR/cert.pem es para los nombres y direcciones de --host y vale 825 días; DIR/key.pem, con modo 0600, es su llave.
Ningún archivo se sobrescribe. Los clientes no confían en él por sí solos: hay que dar a cada uno una copia de
cert.pem. Para renovarlo, se crea otro en un DIR nuevo, se reparte su cert.pem y luego se mueven ambos archivos sobre
los anteriores: un servidor en marcha los toma por sí solo.`,
  'compat cert': `DIR/cert.pem es solo para esos hosts y vale 398 días; DIR/key.pem, con modo 0600, es su llave. DIR/ca.pem es la
autoridad (CA) que lo firmó, en la que deben confiar las máquinas de los programas: existe solo para esta firma, su
llave nunca se guarda y está limitada a estos hosts. Ningún archivo se sobrescribe. Se aceptan los hosts de bccr.fi.cr
y hacienda.go.cr y los de esta máquina; con --force, también otros. Al final imprime lo que falta por hacer, en esta
máquina y en las de los programas.`,
  healthcheck: `Con --fresh falla también si la compra o la venta del dólar tiene más de dos días de antigüedad, y dice cuántos: es
para el monitoreo, porque ningún reinicio actualiza los tipos de cambio. Con --data-dir pregunta al servidor que usa ese
directorio, salvo que --url, --host o --port indiquen otro. Con --url, --tls-cert indica un certificado
en el que se confía, por ejemplo una copia del que usa el servidor.`,
  doctor: `Solo revisa, y puede ejecutarse con el servidor en marcha, cuya configuración usa salvo que una opción diga otra
cosa. Imprime una línea por cada problema, y el código de salida
es 1 si hay alguno; las notas son solo informativas. Se lee cada documento, así que toma su tiempo; con una base de
datos que varios nodos comparten, solo con --read-all, y si no, se comprueba que cada contenido esté.

Con --repair elimina primero lo que dejó una caída: contenidos que no pertenecen a ningún documento y archivos
temporales, como lo hace el servidor al iniciar; y vuelve a sumar lo que cuenta para los cupos. No cambia nada más. El
servidor debe estar detenido. Lo que varios nodos comparten lo ordenan ellos mismos.`,
  'key create': `Los programas que hablan con el banco, con Hacienda o con otros servicios de tipos de cambio envían una clave como
pueden: en un encabezado, en la dirección o en un formulario. Lo que va en una dirección termina en registros; por eso
una clave así se crea con --in-url, y solo da acceso a tipos de cambio, conversiones e historias. --secret-from
registra el token que un programa tiene del antiguo servicio web del banco, de modo que solo haya que cambiar su
dirección; da acceso únicamente a ese servicio, y solo desde --network. En cambista manual programs está qué escribir
en cada programa.`,
  'key rotate': ROTATION,
  'token rotate': ROTATION,
  'token create': `Con --company el token es solo para los agentes y documentos de esa empresa: los demás no existen para él. Así, varias
empresas comparten un servidor. Con --agent es solo para los documentos de ese agente, como conviene a sus procesos:
documents:CLAIM les permite tomar y terminar documentos, y documents:GET leerlos. Con --quota, una carga se rechaza
con 507 si los documentos de los tokens con este nombre pasarían de ese total: uno que se revoca y se crea de nuevo no
empieza de cero.`,
  'hook create': `El servidor envía mensajes por POST a URL: document.created lleva los id de los documentos de una carga (con --company o
--agent, solo los de esa empresa o para ese agente), rates.published los días que completó una sincronización y
sync.failed la sincronización que falló. Van firmados según Standard Webhooks. Lo que no llega se intenta de nuevo,
ocho veces en un día. Más detalles en cambista manual hooks.`,
  'hook test': `El mensaje lo envía este comando, no el servidor. Si llega, un hook que estaba apagado queda de nuevo encendido, y el
servidor envía enseguida lo que espera por él.`,
  'hook rotate': `Durante --overlap cada mensaje lleva dos firmas, para que el receptor cambie de secreto en cualquier momento. Tras una
restauración los secretos de antes no se pueden leer, porque hook.key no está en ningún respaldo: entonces firma solo
el nuevo, y se envía lo que espera.`,
  'company update': `Una carga que superaría ese cupo se rechaza con 507. Para cambiar el nombre y el código: cambista directory import.`,
  'directory import': `ARCHIVO es JSON, tal como lo imprime cambista directory export:
  {"companies": [{"id": 7, "name": "Café Britt", "code": "BRITT"}],
   "owners": [{"id": 31, "name": "Ana Mora", "company_id": 7}],
   "agents": [{"id": 12, "company_id": 7, "name": "Facturas",
               "description": "<p>Lee facturas</p>", "active": true}]}
o CSV en UTF-8 con encabezado, separado por comas, puntos y comas o tabuladores:
  kind,id,name,code,company_id,description,active
  company,7,Café Britt,BRITT,,,
  owner,31,Ana Mora,,7,,
  agent,12,Facturas,,7,<p>Lee facturas</p>,true

Una fila con un id conocido cambia lo guardado; company_id de un propietario, description y active pueden omitirse (en
CSV, dejarse vacíos) y entonces quedan como están. Lo que el archivo no menciona se conserva. Un propietario sin
empresa puede tener documentos de cualquiera. Con un solo error no se cambia nada, y cada error se indica con su
ubicación.`,
  'event list': `Con --document también quién lo envió, lo que consta en el documento mismo y no es un evento. ACTOR es el nombre de
una clave o de un token, o cli y el usuario de este sistema, o el servidor por sí mismo, cuando dio por fallido un
documento después de --max-attempts. Las horas están en UTC. Los eventos se conservan por el tiempo que --keep-events
indica al servidor.`,
  'document retry': `Para uno que falló, o que se terminó por error. Sus intentos empiezan de nuevo y su nota se borra. Si un
proceso lo tiene tomado, se le quita: lo que ese proceso envíe sobre él se rechaza. El servidor puede estar en marcha.`,
  'backup create': `${SET}
DIR se crea si falta, pero no los directorios que lo contienen. En el mismo sistema de archivos que los datos, los
contenidos son enlaces duros, que no ocupan espacio y se pierden junto con el disco; en otro, se copian. DIR debe
estar en otro disco.`,
  'backup verify': `${SET}
Solo lee. Imprime una línea por cada falla, y el código de salida es 1 si hay alguna.`,
  'backup restore': `${SET}
El respaldo se verifica mientras se restaura, y --data-dir se crea entero o no se crea. Debe estar vacío o no existir:
antes hay que detener el servidor y mover el anterior a otro lugar. Si lo ejecuta root, los archivos pasan al dueño de
--data-dir o, si no existe, al dueño del respaldo. Los ids nuevos empiezan 1 000 000 por encima de los del respaldo,
para que ninguno se repita.

Con --without-damaged se restaura todo menos los contenidos que faltan o están alterados, si no hay ninguna otra
falla. Junto al directorio de datos, <data-dir>.damaged.json enumera entonces los documentos que perdieron su
contenido, <data-dir>.damaged/ tiene los archivos alterados, y el código de salida es 3. Un contenido así se responde
con 410, y se recupera al cargar de nuevo los mismos bytes.`,
  migrate: `El servidor del directorio de datos debe estar detenido, y la base de datos, vacía. Tipos de cambio, documentos, claves,
tokens, avisos, eventos y todo lo demás pasan con sus ids; se comparan ambos lados; después el directorio ya no se
sirve, como dice su archivo MOVED, y los nodos pueden iniciar con la base de datos. Si se interrumpe, el mismo comando
continúa donde quedó, y hasta que termine se puede seguir sirviendo el directorio. Los contenidos que faltan o están
alterados se nombran y desde entonces se responden con 410; el código de salida es 3.`,
  'database migrate': `El servidor hace lo mismo al iniciar, salvo con --no-migrate. Los nodos de la versión anterior pueden seguir en marcha
mientras tanto. Si se interrumpe, el mismo comando continúa donde quedó.`,
  'database restored': `Para cuando el administrador devolvió la base de datos a un momento anterior. Antes de iniciar ningún nodo: los ids
nuevos empiezan 1 000 000 por encima, para que ninguno signifique dos cosas; los clientes no toman por vigente nada de
lo que guardaron; de lo que se respondió desde entonces as_of dice que no se sabe; y se buscan todos los contenidos:
el que falta se responde con 410, y se recupera al cargar de nuevo los mismos bytes. Lo que se revocó después de aquel
momento vuelve a ser válido: hay que revocarlo otra vez.`,
  completion: `Solo para esta terminal:
  source <(cambista completion bash)
Para todos los usuarios, desde su próximo inicio de sesión:
  cambista completion bash |
    sudo tee /usr/share/bash-completion/completions/cambista >/dev/null
  cambista completion zsh |
    sudo tee /usr/local/share/zsh/site-functions/_cambista >/dev/null`,
  'metrics dashboard': `${NEEDS}
La fuente de datos es una variable, así que sirve tal cual en cualquier Grafana.`,
  'metrics rules': `${NEEDS}
El trabajo (job) que lee las métricas debe llamarse cambista, como esperan las reglas.`,
}
