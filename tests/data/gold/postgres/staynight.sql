CREATE TABLE hotels (
  "hotelId" integer PRIMARY KEY,
  "hotelName" text NOT NULL,
  "cityCode" text NOT NULL, -- no table of cities
  "stars" smallint, -- NULL: not rated
  "openedOn" date NOT NULL,
  "closedOn" date -- NULL: still open
);
CREATE TABLE rooms (
  "roomId" integer PRIMARY KEY,
  "hotelId" integer NOT NULL,
  "roomNo" text NOT NULL,
  "roomType" text NOT NULL, -- SGL, DBL, SUI
  "beds" smallint NOT NULL,
  "seaView" boolean,
  "outOfService" boolean NOT NULL DEFAULT false
);
CREATE TABLE guests (
  "guestId" integer PRIMARY KEY,
  "fullName" text NOT NULL,
  "countryCode" char(2),
  "loyaltyTier" text, -- silver, gold, NULL: not in the programme
  "invitedBy" integer,
  "marketingOk" boolean -- NULL: never asked
);
CREATE TABLE bookings (
  "bookingId" integer NOT NULL,
  "guestId" integer NOT NULL, -- who stays
  "payerId" integer, -- the guest who pays, NULL: a company pays
  "hotelId" integer NOT NULL,
  "checkIn" date NOT NULL,
  "checkOut" date NOT NULL, -- the day of leaving, which is not a night
  "bookedAt" timestamp NOT NULL,
  "cancelledAt" timestamp, -- NULL: not cancelled
  "channel" text, -- web, phone, agency
  "isTest" boolean NOT NULL DEFAULT false
);
CREATE TABLE nights (
  "bookingId" integer,
  "roomId" integer,
  "nightOf" date,
  "rateCents" integer -- 0: given for free
);
CREATE TABLE charges (
  "chargeId" integer PRIMARY KEY,
  "bookingId" integer NOT NULL,
  "postedAt" timestamp NOT NULL,
  "kind" text NOT NULL, -- bar, spa, parking, damage
  "amountEur" numeric(9, 2) NOT NULL,
  "voidedAt" timestamp
);
CREATE TABLE reviews (
  "reviewId" integer,
  "bookingId" integer,
  "score" smallint, -- 1 to 10, NULL: only a text
  "submittedAt" timestamp,
  "repliedAt" timestamp,
  "comment" text
);

INSERT INTO hotels VALUES (1, 'Harbour House', 'LIS', 4, '2012-05-01', NULL), (2, 'Dune Lodge', 'LIS', 3, '2016-04-15', NULL),
 (3, 'Alpine Court', 'INN', 5, '2009-12-01', NULL), (4, 'Station Inn', 'VIE', 3, '2018-03-01', NULL),
 (5, 'Old Mill', 'INN', NULL, '2001-06-01', '2024-05-15'), (6, 'Park Rooms', 'VIE', 4, '2024-09-01', NULL);
INSERT INTO rooms
SELECT (h - 1) * 8 + r, h, (100 * (1 + r / 5) + r)::text, (ARRAY['SGL','DBL','DBL','SUI'])[1 + (h + r) % 4], 1 + (h + r) % 4 % 3 + (r % 2) * ((h + r) % 4 / 2),
  CASE WHEN h > 2 THEN NULL ELSE r % 3 = 0 END, (h * 5 + r) % 13 = 4
FROM generate_series(1, 5) h, generate_series(1, 8) r;
INSERT INTO guests
SELECT i, (ARRAY['Nora','Otto','Pia','Quentin','Rosa','Sami','Tilda','Umar','Vera','Wim','Xenia','Yann','Zoe'])[1 + i % 13] || ' ' ||
  (ARRAY['Abel','Brook','Costa','Dahl','Evers','Faro'])[1 + i % 6],
  CASE WHEN i % 15 = 8 THEN NULL ELSE (ARRAY['PT','AT','DE','GB','IT'])[1 + (i * i) % 5] END,
  CASE WHEN i % 7 = 0 THEN 'gold' WHEN i % 3 = 0 THEN 'silver' END, CASE WHEN i % 6 = 4 AND i > 5 THEN i / 3 END,
  CASE WHEN i % 4 = 2 THEN NULL ELSE i % 3 > 0 END
FROM generate_series(1, 78) i;
INSERT INTO bookings
SELECT i, 1 + (i * 31) % 70, CASE WHEN i % 8 = 3 THEN NULL WHEN i % 5 = 2 THEN 1 + (i * 13) % 70 ELSE 1 + (i * 31) % 70 END, 1 + (i * 3 + i / 5) % 5,
  date '2024-01-02' + i * 2, date '2024-01-02' + i * 2 + 1 + (i * 7) % 5,
  date '2024-01-02' + i * 2 - (5 + (i * 11) % 60) + time '08:15' + i % 9 * interval '71 minutes',
  CASE WHEN i % 9 = 4 THEN date '2024-01-02' + i * 2 - (i * 11) % 5 + time '10:30' END,
  CASE WHEN i % 13 = 6 THEN NULL ELSE (ARRAY['web','web','agency','phone'])[1 + i % 4] END, i IN (17, 91)
FROM generate_series(1, 150) i WHERE NOT (1 + (i * 3 + i / 5) % 5 = 5 AND i > 70);
INSERT INTO bookings VALUES (155, 5, 5, 3, '2024-04-26', '2024-04-28', '2024-04-20 22:05', NULL, 'phone', false);
INSERT INTO nights
SELECT b."bookingId", (b."hotelId" - 1) * 8 + 1 + b."bookingId" % 7, b."checkIn" + d, CASE WHEN b."bookingId" % 33 = 5 THEN 0 ELSE 5500 + b."hotelId" * 1700 + (b."bookingId" % 6) * 400 + CASE WHEN extract(isodow FROM b."checkIn" + d) >= 5 THEN 1500 ELSE 0 END END
FROM bookings b CROSS JOIN LATERAL generate_series(0, b."checkOut" - b."checkIn" - 1) d WHERE b."cancelledAt" IS NULL;
INSERT INTO charges
SELECT i, b."bookingId", b."checkIn" + time '19:00' + i % 5 * interval '37 minutes', (ARRAY['bar','bar','spa','parking','bar','parking'])[1 + i % 6], 8 + (i * 7) % 45 + 0.5 * (i % 2), CASE WHEN i % 17 = 3 THEN b."checkOut" + time '09:00' END
FROM generate_series(1, 160) i JOIN bookings b ON b."bookingId" = 1 + (i * i * 3 + i * 5) % 139 WHERE b."cancelledAt" IS NULL;
INSERT INTO charges SELECT 900 + "bookingId", "bookingId", "checkOut" + time '11:20', 'damage', 120, NULL FROM bookings WHERE "bookingId" IN (12, 57, 110) AND "cancelledAt" IS NULL;
INSERT INTO reviews
SELECT row_number() OVER (ORDER BY "bookingId"), "bookingId", CASE WHEN "bookingId" % 11 = 5 THEN NULL ELSE 3 + ("bookingId" * 5) % 8 END,
  "checkOut" + 1 + "bookingId" % 6 + time '20:10', CASE WHEN "bookingId" % 4 = 1 THEN "checkOut" + 9 + time '09:45' END, CASE WHEN "bookingId" % 3 = 0 THEN 'Friendly people' WHEN "bookingId" % 11 = 5 THEN 'Noisy at night' END
FROM bookings WHERE "cancelledAt" IS NULL AND "bookingId" % 5 IN (0, 1, 3);
