<?php

declare(strict_types=1);

// Converts amounts with the rates of a cambista server. Needs PHP 8.0 and no extension.
//
// As a program:  CAMBISTA_KEY=KEY php cambista.php AMOUNT FROM TO DAY [SIDE [DECIMALS]]
// As a library:  require 'cambista.php'; cambista_convert('1500.50', 'USD', 'CRC', '2026-03-20', 'venta', 2)['result']
//
// PHP has no decimal numbers, so amounts, rates and results are strings with exact digits. The server multiplies and
// rounds: (float) would lose digits. To calculate further, use bcmath.
//
// On a weekend or holiday the last published value answers, and `day` is its day. An exception is thrown, and no value
// is guessed, for a day that the server has not fetched, for a day after tomorrow, and for a value that is too old.

define('CAMBISTA_URL', getenv('CAMBISTA_URL') ?: 'http://127.0.0.1:8080'); // address of the server
define('CAMBISTA_KEY', getenv('CAMBISTA_KEY') ?: ''); // printed by: cambista key create NAME
define('CAMBISTA_TIMEOUT', (float) (getenv('CAMBISTA_TIMEOUT') ?: 10)); // seconds to wait for the network
const CAMBISTA_ATTEMPTS = 3;
const CAMBISTA_LONGEST_WAIT = 60; // seconds that a busy server may ask for between two attempts
const CAMBISTA_OLDEST_VALUE = 7; // days between the day asked for and its value: holidays are shorter

/** There is no certain answer. Do not book with a value of your own. */
class CambistaException extends RuntimeException
{
}

/**
 * Converts an amount on a day, YYYY-MM-DD. The result is exact without $decimals. `rounded_to` has the decimals of the
 * rate if the source of the server had rounded it.
 *
 * @return array{result: string, rate: string, day: string, rounded_to: ?int}
 */
function cambista_convert(
    string $amount,
    string $from,
    string $to,
    string $day,
    string $side = 'venta',
    ?int $decimals = null
): array {
    $query = ['amount' => $amount, 'from' => $from, 'to' => $to, 'on' => $day, 'type' => $side];
    if ($decimals !== null) {
        $query['decimals'] = $decimals;
    }
    $answer = cambista_request('/api/v1/convert?' . http_build_query($query));
    if (isset($answer['future'])) {
        throw new CambistaException("$day is in the future");
    }
    $age = (new DateTimeImmutable($answer['rate_date']))->diff(new DateTimeImmutable($day));
    if ($age->days > CAMBISTA_OLDEST_VALUE) {
        throw new CambistaException("the newest value for $day is of {$answer['rate_date']}: the server is behind");
    }
    return [
        'result' => $answer['result'],
        'rate' => $answer['rate'],
        'day' => $answer['rate_date'],
        'rounded_to' => $answer['rounded_to'] ?? null,
    ];
}

function cambista_request(string $path): array
{
    for ($attempt = 1; ; $attempt++) {
        [$status, $retry_after, $body] = cambista_get(rtrim(CAMBISTA_URL, '/') . $path);
        $answer = json_decode($body, true);
        if ($status === 200 && is_array($answer)) {
            return $answer; // a body that was cut is no JSON
        }
        $detail = $answer['detail'] ?? 'no complete answer';
        $reason = "$status: " . (is_string($detail) ? $detail : json_encode($detail));
        if (!in_array($status, [0, 200, 429, 502, 503, 504], true)) {
            throw new CambistaException($reason);
        }
        $wait = ctype_digit($retry_after) ? (int) $retry_after : 2 ** ($attempt - 1);
        if ($attempt === CAMBISTA_ATTEMPTS || $wait > CAMBISTA_LONGEST_WAIT) {
            throw new CambistaException(CAMBISTA_URL . " does not answer: $reason");
        }
        sleep($wait);
    }
}

/** Returns status (0: no answer in time), Retry-After and body. */
function cambista_get(string $url): array
{
    $stream = @fopen($url, 'r', false, stream_context_create(['http' => [
        'header' => 'X-API-Key: ' . CAMBISTA_KEY,
        'timeout' => CAMBISTA_TIMEOUT,
        'ignore_errors' => true, // the body of an error has its reason
        'follow_location' => 0, // another server must not get the key
    ]]));
    if ($stream === false) {
        return [0, '', ''];
    }
    $body = (string) stream_get_contents($stream);
    $lines = stream_get_meta_data($stream)['wrapper_data'];
    fclose($stream);
    $retry_after = preg_replace('/^retry-after: */i', '', current(preg_grep('/^retry-after:/i', $lines)) ?: '');
    return [(int) explode(' ', $lines[0])[1], $retry_after, $body];
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    if ($argc < 5 || $argc > 7) {
        fwrite(STDERR, "usage: cambista.php AMOUNT FROM TO DAY [SIDE [DECIMALS]]\n");
        exit(2);
    }
    try {
        if (isset($argv[6]) && !ctype_digit($argv[6])) {
            throw new CambistaException('DECIMALS must be an integer');
        }
        $decimals = isset($argv[6]) ? (int) $argv[6] : null;
        $conversion = cambista_convert($argv[1], $argv[2], $argv[3], $argv[4], $argv[5] ?? 'venta', $decimals);
    } catch (CambistaException $error) {
        fwrite(STDERR, "cambista: {$error->getMessage()}\n");
        exit(1);
    }
    echo "{$conversion['result']} {$conversion['rate']} {$conversion['day']}\n";
}
