;; Inner products of one query with a run of rows: four floats an instruction, or eight codes.
;; Memory: whatever the caller lays out; every pointer is in bytes and a multiple of 16.
(module
  (memory (import "env" "memory") 1)

  ;; scan(query, rows, count, dimension, out): out[i] = query . rows[i], for i < count.
  ;; `dimension` is a multiple of 16. Four sums, so that no addition waits for the one before.
  (func (export "scan")
    (param $query i32) (param $rows i32) (param $count i32) (param $dimension i32) (param $out i32)
    (local $bytes i32) (local $end i32) (local $q i32) (local $stop i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $bytes (i32.shl (local.get $dimension) (i32.const 2)))
    (local.set $stop (i32.add (local.get $query) (local.get $bytes)))
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (local.set $q (local.get $query))
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $c (v128.const f32x4 0 0 0 0))
        (local.set $d (v128.const f32x4 0 0 0 0))
        (loop $lanes
          (local.set $a (f32x4.add (local.get $a)
            (f32x4.mul (v128.load (local.get $q)) (v128.load (local.get $rows)))))
          (local.set $b (f32x4.add (local.get $b)
            (f32x4.mul (v128.load offset=16 (local.get $q)) (v128.load offset=16 (local.get $rows)))))
          (local.set $c (f32x4.add (local.get $c)
            (f32x4.mul (v128.load offset=32 (local.get $q)) (v128.load offset=32 (local.get $rows)))))
          (local.set $d (f32x4.add (local.get $d)
            (f32x4.mul (v128.load offset=48 (local.get $q)) (v128.load offset=48 (local.get $rows)))))
          (local.set $q (i32.add (local.get $q) (i32.const 64)))
          (local.set $rows (i32.add (local.get $rows) (i32.const 64)))
          (br_if $lanes (i32.lt_u (local.get $q) (local.get $stop))))
        (local.set $a (f32x4.add
          (f32x4.add (local.get $a) (local.get $b))
          (f32x4.add (local.get $c) (local.get $d))))
        (f32.store (local.get $out)
          (f32.add
            (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
            (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $row))))

  ;; scan_codes(query, rows, count, dimension, scales, by, out): out[i] = by * scales[i] * (query . rows[i]).
  ;; The query's codes are 16 bits wide, the rows' 8; sums are whole numbers, far from 32 bits.
  (func (export "scan_codes")
    (param $query i32) (param $rows i32) (param $count i32) (param $dimension i32)
    (param $scales i32) (param $by f32) (param $out i32)
    (local $end i32) (local $q i32) (local $stop i32) (local $codes v128)
    (local $a v128) (local $b v128)
    (local.set $stop (i32.add (local.get $query) (i32.shl (local.get $dimension) (i32.const 1))))
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (local.set $q (local.get $query))
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (loop $lanes
          (local.set $codes (v128.load (local.get $rows)))
          (local.set $a (i32x4.add (local.get $a)
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $codes))
              (v128.load (local.get $q)))))
          (local.set $b (i32x4.add (local.get $b)
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $codes))
              (v128.load offset=16 (local.get $q)))))
          (local.set $q (i32.add (local.get $q) (i32.const 32)))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (br_if $lanes (i32.lt_u (local.get $q) (local.get $stop))))
        (local.set $a (i32x4.add (local.get $a) (local.get $b)))
        (f32.store (local.get $out)
          (f32.mul
            (f32.mul (local.get $by) (f32.load (local.get $scales)))
            (f32.convert_i32_s
              (i32.add
                (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
                (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $scales (i32.add (local.get $scales) (i32.const 4)))
        (br $row)))))
