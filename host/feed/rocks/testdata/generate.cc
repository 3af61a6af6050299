// Writes the databases of checkpoints.tar.zst with RocksDB itself: one folder for each, and beside
// it what RocksDB reads there (want.txt: key and value in hexadecimal). Debian's librocksdb-dev:
//
//   g++ -std=c++17 generate.cc -o generate -lrocksdb && ./generate OUT
//   tar -C OUT --exclude=LOCK --exclude=LOG --exclude='OPTIONS*' --exclude=IDENTITY --sort=name -c . | zstd -19 > checkpoints.tar.zst
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <fstream>
#include <iostream>

using namespace rocksdb;

static std::string out;

static void check(const Status& s) {
  if (!s.ok()) {
    std::cerr << s.ToString() << "\n";
    std::exit(1);
  }
}

static std::string hex(const Slice& s) { return s.ToString(true); }

static std::string key(int i) {
  char b[32];
  std::snprintf(b, sizeof b, "key%06d", i * 7919 % 100003);
  return b;
}

static std::string value(int i, int round) {
  std::string v = "value " + std::to_string(i) + " of round " + std::to_string(round) + " ";
  for (int n = i % 40; n > 0; n--) v += "abcdefgh";
  return v;
}

class Appends : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "appends"; }
  bool Merge(const Slice&, const Slice* old, const Slice& v, std::string* now, Logger*) const override {
    *now = (old ? old->ToString() : "") + v.ToString();
    return true;
  }
};

static Options plain() {
  Options o;
  o.create_if_missing = true;
  o.compression = kNoCompression;
  o.disable_auto_compactions = true;
  o.merge_operator = std::make_shared<Appends>();
  return o;
}

static BlockBasedTableOptions blocks(int version, ChecksumType sum) {
  BlockBasedTableOptions t;
  t.format_version = version;
  t.checksum = sum;
  t.block_size = 700;
  t.filter_policy.reset(NewBloomFilterPolicy(10));
  return t;
}

using Fill = std::function<void(DB*)>;

// Makes the database, checkpoints it, and writes down what RocksDB reads in it.
static void make(const std::string& name, Options o, const BlockBasedTableOptions& t, const Fill& fill) {
  std::string at = out + "/live/" + name, to = out + "/" + name;
  o.table_factory.reset(NewBlockBasedTableFactory(t));
  DB* db;
  check(DB::Open(o, at, &db));
  fill(db);
  Checkpoint* cp;
  check(Checkpoint::Create(db, &cp));
  check(cp->CreateCheckpoint(to, 1 << 30));  // a log below this size is copied and not flushed
  std::ofstream want(to + "/want.txt");
  Iterator* it = db->NewIterator(ReadOptions());
  for (it->SeekToFirst(); it->Valid(); it->Next()) want << hex(it->key()) << " " << hex(it->value()) << "\n";
  check(it->status());
  delete it;
  delete cp;
  delete db;
}

static void put(DB* db, int n, int round) {
  for (int i = 0; i < n; i++) check(db->Put(WriteOptions(), key(i), value(i, round)));
}

static void flush(DB* db) { check(db->Flush(FlushOptions())); }

static void once(DB* db) {
  put(db, 200, 0);
  flush(db);
}

// Versions of one key on four levels: puts, deletions, single deletions, and puts again.
static void levels(DB* db) {
  auto down = [&](int level) {
    CompactRangeOptions o;
    o.change_level = true;
    o.target_level = level;
    check(db->CompactRange(o, nullptr, nullptr));
  };
  put(db, 400, 0);
  flush(db);
  down(6);
  const Snapshot* held = db->GetSnapshot();  // keeps old versions in the files
  for (int i = 0; i < 400; i += 3) check(db->Put(WriteOptions(), key(i), value(i, 1)));
  for (int i = 0; i < 400; i += 10) check(db->Delete(WriteOptions(), key(i)));
  for (int i = 2; i < 400; i += 30) check(db->SingleDelete(WriteOptions(), key(i)));
  flush(db);
  for (int i = 0; i < 400; i += 20) check(db->Put(WriteOptions(), key(i), value(i, 2)));
  flush(db);
  for (int i = 0; i < 400; i += 40) check(db->Delete(WriteOptions(), key(i)));
  flush(db);
  db->ReleaseSnapshot(held);
}

// Many files side by side on the last level.
static void files(DB* db) {
  put(db, 600, 0);
  flush(db);
  CompactRangeOptions o;
  o.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  check(db->CompactRange(o, nullptr, nullptr));
  for (int i = 0; i < 600; i += 5) check(db->Put(WriteOptions(), key(i), value(i, 1)));
  flush(db);
}

int main(int, char** argv) {
  out = argv[1];
  std::filesystem::create_directories(out + "/live");
  auto with = [](CompressionType c) {
    Options o = plain();
    o.compression = c;
    return o;
  };

  make("v2-crc32c-zlib", with(kZlibCompression), blocks(2, kCRC32c), once);
  make("v3-xxhash-snappy", with(kSnappyCompression), blocks(3, kxxHash), once);
  make("v4-xxhash64-lz4", with(kLZ4Compression), blocks(4, kxxHash64), once);
  make("v5-xxh3-lz4hc", with(kLZ4HCCompression), blocks(5, kXXH3), once);
  make("v5-xxh3-zlib", with(kZlibCompression), blocks(5, kXXH3), once);
  make("v5-xxh3-zstd", with(kZSTD), blocks(5, kXXH3), once);
  make("v5-xxh3", plain(), blocks(5, kXXH3), once);

  auto partitioned = blocks(5, kXXH3);
  partitioned.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  partitioned.metadata_block_size = 200;
  partitioned.partition_filters = true;
  make("partitioned", with(kZSTD), partitioned, once);
  partitioned.format_version = 3;  // index values without deltas
  make("partitioned-v3", with(kLZ4Compression), partitioned, once);
  partitioned.format_version = 5;
  partitioned.index_block_restart_interval = 8;  // index keys and values as deltas
  make("partitioned-deltas", plain(), partitioned, once);

  auto first = blocks(5, kXXH3);
  first.index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
  make("first-key", plain(), first, once);
  auto hashed = blocks(5, kCRC32c);
  hashed.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  make("hashed-blocks", plain(), hashed, once);
  auto deltas = blocks(4, kCRC32c);
  deltas.index_block_restart_interval = 16;
  make("deltas", plain(), deltas, once);

  make("levels", with(kLZ4Compression), blocks(5, kXXH3), levels);
  Options many = with(kSnappyCompression);
  many.target_file_size_base = 8 << 10;
  make("files", many, blocks(5, kXXH3), files);
  make("empty", plain(), blocks(5, kXXH3), [](DB*) {});
  make("large", with(kZSTD), blocks(5, kXXH3), [](DB* db) {
    check(db->Put(WriteOptions(), "zeros", std::string(3 << 20, '\0')));
    check(db->Put(WriteOptions(), "", "the empty key"));
    check(db->Put(WriteOptions(), "empty", ""));
    flush(db);
  });
  Options backwards = plain();
  backwards.comparator = ReverseBytewiseComparator();
  make("reverse", backwards, blocks(5, kXXH3), once);
  make("merged", plain(), blocks(5, kXXH3), [](DB* db) {  // a merge below a put is of no account
    put(db, 20, 0);
    const Snapshot* held = db->GetSnapshot();
    check(db->Merge(WriteOptions(), key(3), "more"));
    flush(db);
    check(db->Put(WriteOptions(), key(3), "put after"));
    flush(db);
    db->ReleaseSnapshot(held);
  });

  // What is refused.
  make("refused-v0", plain(), blocks(0, kCRC32c), once);
  make("refused-merge", plain(), blocks(5, kXXH3), [](DB* db) {
    put(db, 20, 0);
    flush(db);
    check(db->Merge(WriteOptions(), key(3), "more"));
    flush(db);
  });
  make("refused-range-deletion", plain(), blocks(5, kXXH3), [](DB* db) {
    put(db, 20, 0);
    flush(db);
    check(db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "key02", "key05"));
    put(db, 1, 1);
    flush(db);
  });
  Options blob = plain();
  blob.enable_blob_files = true;
  make("refused-blob", blob, blocks(5, kXXH3), once);
  make("refused-log", plain(), blocks(5, kXXH3), [](DB* db) {
    once(db);
    put(db, 1, 1);
  });
  make("refused-entity", plain(), blocks(5, kXXH3), [](DB* db) {
    once(db);
    check(db->PutEntity(WriteOptions(), db->DefaultColumnFamily(), key(5), {{"a", "1"}, {"b", "2"}}));
    flush(db);
  });
  Options dictionary = with(kZSTD);
  dictionary.compression_opts.max_dict_bytes = 1 << 10;
  make("refused-dictionary", dictionary, blocks(5, kXXH3), once);
  make("refused-bzip2", with(kBZip2Compression), blocks(5, kXXH3), once);
  make("refused-no-checksum", plain(), blocks(5, kNoChecksum), once);
  Options ingested = plain();
  make("refused-ingested", ingested, blocks(5, kXXH3), [&](DB* db) {
    once(db);
    Options o = plain();
    SstFileWriter w(EnvOptions(), o);
    check(w.Open(out + "/live/outside.sst"));
    check(w.Put("key000000", "from outside"));
    check(w.Finish());
    IngestExternalFileOptions as;
    as.write_global_seqno = false;
    check(db->IngestExternalFile({out + "/live/outside.sst"}, as));
  });
  std::filesystem::remove_all(out + "/live");
}
