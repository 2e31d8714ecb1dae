CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, discount INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id), price TEXT,
  quantity INTEGER, ordered TEXT, paid TEXT);
INSERT INTO customer VALUES (1,'Ann','Rome',10),(2,'Bob','Oslo',NULL),(3,'Cid',NULL,0),(4,'Dan','Rome',5),
  (5,'Eve','Oslo',NULL),(6,'Ann','Rome',20);
INSERT INTO orders VALUES (1,1,'$1,200',2,'05/12/2021','12.50'),(2,1,'$300',0,'06/01/2022','9.00'),
  (3,2,'$80',4,'11/30/2021','100.25'),(4,4,'$2,500',0,'01/02/2023','30.00'),(5,6,'$45',1,'12/31/2022','7.10');
