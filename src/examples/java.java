import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Converts amounts with the rates of a cambista server, as exact decimals. Needs Java 17 and nothing else.
 *
 * <pre>
 * As a program:  CAMBISTA_KEY=KEY java Cambista.java AMOUNT FROM TO DAY [SIDE [DECIMALS]]
 * As a class:    Cambista.convert(new BigDecimal("1500.50"), "USD", "CRC", LocalDate.of(2026, 3, 20), "venta", 2)
 * </pre>
 *
 * On a weekend or holiday the last published value answers, and {@code day} is its day. An exception is thrown, and no
 * value is guessed, for a day that the server has not fetched, for a day after tomorrow, and for a value that is too old.
 */
public final class Cambista {
    private static final String URL = System.getenv().getOrDefault("CAMBISTA_URL", "http://127.0.0.1:8080");
    private static final String KEY = System.getenv().getOrDefault("CAMBISTA_KEY", ""); // cambista key create NAME
    private static final long TIMEOUT = Long.parseLong(System.getenv().getOrDefault("CAMBISTA_TIMEOUT", "10")); // seconds
    private static final int ATTEMPTS = 3;
    private static final long LONGEST_WAIT = 60; // seconds that a busy server may ask for between two attempts
    private static final long OLDEST_VALUE = 7; // days between the day asked for and its value: holidays are shorter
    private static final Set<Integer> BUSY = Set.of(429, 502, 503, 504);

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .followRedirects(HttpClient.Redirect.NEVER) // another server must not get the key
            .connectTimeout(Duration.ofSeconds(TIMEOUT))
            .version(HttpClient.Version.HTTP_1_1)
            .build();

    /** There is no certain answer. Do not book with a value of your own. */
    public static final class CambistaException extends RuntimeException {
        CambistaException(String message) {
            super(message);
        }
    }

    /** The result is exact without decimals. roundedTo: decimals, if the source of the server had rounded the rate. */
    public record Conversion(BigDecimal result, BigDecimal rate, LocalDate day, Integer roundedTo) {}

    private Cambista() {}

    /** Converts an amount on a day. Without decimals (null) the result is exact. */
    public static Conversion convert(
            BigDecimal amount, String from, String to, LocalDate day, String side, Integer decimals)
            throws InterruptedException {
        Map<String, String> query = Map.of(
                "amount", amount.toPlainString(), "from", from, "to", to, "on", day.toString(), "type", side);
        String path = "/api/v1/convert?"
                + query.entrySet().stream()
                        .map(one -> one.getKey() + "=" + URLEncoder.encode(one.getValue(), StandardCharsets.UTF_8))
                        .collect(Collectors.joining("&"))
                + (decimals == null ? "" : "&decimals=" + decimals);
        String answer = request(path);
        LocalDate published = LocalDate.parse(field(answer, "rate_date"));
        if (field(answer, "future") != null) {
            throw new CambistaException(day + " is in the future");
        }
        if (ChronoUnit.DAYS.between(published, day) > OLDEST_VALUE) {
            throw new CambistaException("the newest value for " + day + " is of " + published + ": the server is behind");
        }
        String rounded = field(answer, "rounded_to");
        return new Conversion(
                new BigDecimal(field(answer, "result")),
                new BigDecimal(field(answer, "rate")),
                published,
                rounded == null ? null : Integer.valueOf(rounded));
    }

    private static String request(String path) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(URL.replaceAll("/+$", "") + path))
                .header("X-API-Key", KEY)
                .build();
        for (int attempt = 1; ; attempt++) {
            long wait = 1L << (attempt - 1);
            String reason;
            CompletableFuture<HttpResponse<String>> pending =
                    CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString());
            try {
                HttpResponse<String> response = pending.get(TIMEOUT, TimeUnit.SECONDS); // the body too is in time
                if (response.statusCode() == 200) {
                    return response.body();
                }
                reason = response.statusCode() + ": " + response.body();
                if (!BUSY.contains(response.statusCode())) {
                    throw new CambistaException(reason);
                }
                String seconds = response.headers().firstValue("Retry-After").orElse("");
                wait = seconds.matches("\\d{1,9}") ? Long.parseLong(seconds) : wait;
            } catch (TimeoutException error) {
                pending.cancel(true);
                reason = "no answer in " + TIMEOUT + " s";
            } catch (ExecutionException error) { // no connection, or the answer was cut
                if (!(error.getCause() instanceof IOException)) {
                    throw new IllegalStateException(error.getCause());
                }
                reason = error.getCause().toString();
            }
            if (attempt == ATTEMPTS || wait > LONGEST_WAIT) {
                throw new CambistaException(URL + " does not answer: " + reason);
            }
            TimeUnit.SECONDS.sleep(wait);
        }
    }

    /** Returns a text or number of an answer; null: it has none. It is one flat object: this needs no JSON library. */
    private static String field(String answer, String name) {
        Matcher matcher = Pattern.compile("[{,]\"" + name + "\":\"?([^\",}]*)").matcher(answer);
        return matcher.find() ? matcher.group(1) : null;
    }

    public static void main(String[] words) throws InterruptedException {
        if (words.length < 4 || words.length > 6) {
            System.err.println("usage: Cambista AMOUNT FROM TO DAY [SIDE [DECIMALS]]");
            System.exit(2);
        }
        try {
            Conversion conversion = convert(
                    new BigDecimal(words[0]),
                    words[1],
                    words[2],
                    LocalDate.parse(words[3]),
                    words.length > 4 ? words[4] : "venta",
                    words.length > 5 ? Integer.valueOf(words[5]) : null);
            System.out.println(conversion.result().toPlainString() + " " + conversion.rate().toPlainString() + " "
                    + conversion.day());
        } catch (CambistaException error) {
            fail(error.getMessage());
        } catch (DateTimeParseException error) {
            fail("DAY must be written YYYY-MM-DD");
        } catch (NumberFormatException error) {
            fail("AMOUNT must be a decimal number, such as 1500.50, and DECIMALS an integer");
        }
    }

    private static void fail(String reason) {
        System.err.println("cambista: " + reason);
        System.exit(1);
    }
}
